/** Real PostgreSQL clusters, which are removed at the end. */

import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, chown } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { getFreePort } from './socket.ts';
import { createProcessFolder } from './temporary-folder.ts';
import { until } from './until.ts';

/** Where Debian keeps each version: /usr/lib/postgresql/15/bin. */
const DEBIAN_FOLDER = '/usr/lib/postgresql';

/** Has Linux end a server whose test process was killed. */
const SETPRIV = '/usr/bin/setpriv';
export const END_WITH_PARENT = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'QUIT'] : [];

const FAST = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

export type StopSignal = 'SIGTERM' | 'SIGINT' | 'SIGQUIT' | 'SIGKILL';

export interface ServerOptions {
  /** Like `{ max_connections: '5' }`; they stay for every start. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Commits reach the disk, as they do by default in PostgreSQL. */
  readonly durable?: boolean;
}

export interface Cluster extends AsyncDisposable {
  readonly port: number;
  /** The first process of the server: all others are its children. */
  readonly pid: number;
  /** Holds `data`, the file `log`, and the unix socket. */
  readonly folder: string;
  url(database?: string): string;
  /** Again, after a stop, on the same port and data; resolves when it accepts connections. */
  start(): Promise<void>;
  /**
   * Resolves when the server is gone. SIGTERM waits for its clients, SIGINT (the default)
   * disconnects them, SIGQUIT leaves a recovery to the next start, SIGKILL is a crash.
   */
  stop(signal?: StopSignal): Promise<void>;
  /** A hot standby that follows this one. */
  startStandby(options?: ServerOptions): Promise<Cluster>;
  /** Makes a standby a primary; resolves when it takes writes. */
  promote(): Promise<void>;
}

/** The folder of the newest PostgreSQL here; TEST_POSTGRES_BIN names another. */
export function findPostgresBin(): string | undefined {
  const named = process.env.TEST_POSTGRES_BIN;
  const path = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return (named ? [named] : [...path, ...listDebianBins()]).find((folder) =>
    ['initdb', 'postgres', 'pg_basebackup'].every((program) => existsSync(join(folder, program))),
  );
}

function listDebianBins(): string[] {
  if (!existsSync(DEBIAN_FOLDER)) return [];
  const newestFirst = readdirSync(DEBIAN_FOLDER).sort((a, b) => Number(b) - Number(a));
  return newestFirst.map((version) => join(DEBIAN_FOLDER, version, 'bin'));
}

/** Makes a cluster and starts it; `await using` stops it. */
export async function startCluster(options: ServerOptions = {}): Promise<Cluster> {
  return startIn(options, (data) => [
    'initdb',
    ...['--auth=trust', '--username=postgres', '--encoding=UTF8', '--no-locale', '--no-sync'],
    `--pgdata=${data}`,
  ]);
}

/** Starts a server in a new folder, whose data a program of PostgreSQL makes first. */
async function startIn(
  { settings, durable }: ServerOptions,
  makeData: (data: string) => readonly [string, ...string[]],
): Promise<Cluster> {
  const bin = findPostgresBin();
  if (bin === undefined) {
    throw new Error(
      "there is no PostgreSQL here: install Debian's package postgresql (apt-get install postgresql), or name the folder of its programs with TEST_POSTGRES_BIN",
    );
  }
  const folder = createProcessFolder();
  const account = findAccount();
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  await chmod(folder, 0o700);
  const data = join(folder, 'data');
  const port = await getFreePort();
  const cluster = createCluster({
    ...{ bin, folder, data, port, account },
    settings: { ...(durable ? {} : FAST), ...settings },
  });
  const [program, ...args] = makeData(data);
  await promisify(execFile)(join(bin, program), args, { cwd: folder, ...account });
  await cluster.start();
  return cluster;
}

/** Whom a server runs as: PostgreSQL and PgBouncer refuse to run as root. */
export function findAccount() {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

interface ClusterPlace {
  readonly bin: string;
  readonly folder: string;
  readonly data: string;
  readonly port: number;
  readonly account: ReturnType<typeof findAccount>;
  readonly settings: Readonly<Record<string, string>>;
}

/** The servers that run: a process that ends by itself ends them before its folders are removed. */
const running = new Set<ChildProcess>();
process.prependListener('exit', () => {
  for (const server of running) server.kill('SIGQUIT');
});

function createCluster(place: ClusterPlace): Cluster {
  const { folder, port } = place;
  const url = (database = 'postgres') => `postgres://postgres@127.0.0.1:${port}/${database}`;
  let server: ChildProcess | undefined;
  return {
    port,
    folder,
    url,
    get pid() {
      return server?.pid ?? Number.NaN;
    },
    async start() {
      server = await startServer(place, url());
    },
    async stop(signal = 'SIGINT') {
      if (server !== undefined) await end(server, signal);
      server = undefined;
    },
    startStandby: (options = {}) =>
      startIn(options, (data) => [
        'pg_basebackup',
        ...['--write-recovery-conf', '--checkpoint=fast', '--no-sync', `--pgdata=${data}`],
        `--dbname=${url()}`,
      ]),
    async promote() {
      await queryOnce(url(), 'SELECT pg_promote()');
    },
    [Symbol.asyncDispose]() {
      return this.stop('SIGQUIT');
    },
  };
}

/** Starts the server, again and again as long as the children of one that was killed live on. */
async function startServer(place: ClusterPlace, url: string): Promise<ChildProcess> {
  let server = spawnServer(place);
  try {
    await until(() => {
      if (isGone(server)) server = spawnServer(place);
      return queryOnce(url, 'SELECT 1').then(Boolean, () => false);
    });
    return server;
  } catch {
    await end(server, 'SIGKILL');
    const log = readFileSync(join(place.folder, 'log'), 'utf8');
    throw new Error(`PostgreSQL does not start:\n${log}`);
  }
}

function spawnServer({ bin, folder, data, port, account, settings }: ClusterPlace): ChildProcess {
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: folder, ...settings };
  const command = [
    ...END_WITH_PARENT,
    ...[join(bin, 'postgres'), '-D', data, '-p', String(port)],
    ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  const [program = '', ...args] = command;
  const log = openSync(join(folder, 'log'), 'w');
  const server = spawn(program, args, { cwd: folder, stdio: ['ignore', log, log], ...account });
  closeSync(log);
  running.add(server);
  server.once('exit', () => running.delete(server));
  // A test process that forgets it can still end.
  server.unref();
  return server;
}

function isGone({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function end(server: ChildProcess, signal: StopSignal): Promise<void> {
  if (isGone(server)) return;
  server.ref();
  const exit = once(server, 'exit');
  server.kill(signal);
  await exit;
}

/** One statement on a connection of its own. */
export async function queryOnce(url: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  // A server that goes away meanwhile also fails the statement.
  client.on('error', () => {});
  try {
    await client.connect();
    return await client.query(sql);
  } finally {
    await client.end();
  }
}
