/** Real PgBouncers in front of a server of PostgreSQL. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { END_WITH_PARENT, findAccount, queryOnce } from './postgres-cluster.ts';
import { getFreePort } from './socket.ts';
import { createProcessFolder } from './temporary-folder.ts';
import { until } from './until.ts';

/** Each transaction gets another session than the one before, where there are several. */
const SETTINGS = { pool_mode: 'transaction', default_pool_size: '4', server_round_robin: '1' };

/** Starts it on a free port; it reaches every database of that server as the user `postgres`. */
export async function startPgbouncer(
  serverUrl: string,
  settings: Readonly<Record<string, string>> = {},
) {
  const server = new URL(serverUrl);
  const folder = createProcessFolder();
  const account = findAccount();
  const port = await getFreePort();
  const all = {
    ...{ listen_addr: '127.0.0.1', listen_port: port, unix_socket_dir: '', max_client_conn: 1_000 },
    ...{ auth_type: 'trust', auth_file: join(folder, 'users'), admin_users: 'postgres' },
    ...{ logfile: join(folder, 'log'), ...SETTINGS, ...settings },
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  await writeFile(join(folder, 'users'), '"postgres" ""\n');
  await writeFile(
    join(folder, 'ini'),
    `[databases]\n* = host=${server.hostname} port=${server.port}\n[pgbouncer]\n${lines.join('\n')}\n`,
  );
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  const [program = '', ...args] = [...END_WITH_PARENT, 'pgbouncer', join(folder, 'ini')];
  // Its folder of programs is not in everyone's PATH.
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
  const child = spawn(program, args, { cwd: folder, env, stdio: 'ignore', ...account });
  // A test process that forgets it can still end.
  child.unref();
  const exited = once(child, 'exit');
  const url = `postgres://postgres@127.0.0.1:${port}/`;
  await until(async () => {
    if (child.exitCode !== null) {
      throw new Error(`PgBouncer does not start:\n${await readFile(join(folder, 'log'), 'utf8')}`);
    }
    return queryOnce(`${url}pgbouncer`, 'show version').then(Boolean, () => false);
  });
  return {
    /** With the name of a database behind it, its address through the pooler. */
    url,
    async [Symbol.asyncDispose]() {
      child.ref();
      child.kill('SIGKILL');
      await exited;
    },
  };
}
