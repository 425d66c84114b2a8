/** A database that goes away under load, in each way that one machine allows. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { listChildren } from '../support/children.ts';
import { holdInSession } from '../support/empty-database.ts';
import { queryOnce, type StopSignal } from '../support/postgres-cluster.ts';
import { endure, type Outage, type OutageCase } from './endure.ts';
import { ALL_ANSWERED, ALL_REFUSED, type Expected } from './load.ts';
import * as petstore from './petstore.ts';

/** Room for all connections of the replicas. */
const CONNECTIONS_MAX = 12 * petstore.REPLICAS;
const SUPERUSER_CONNECTIONS = 3;

/** The time until every session has read a changed setting. */
const RELOAD_MS = 300;

const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const cluster = stack.use(
  await petstore.startDatabase({
    max_connections: String(CONNECTIONS_MAX),
    superuser_reserved_connections: String(SUPERUSER_CONNECTIONS),
  }),
);
const address = petstore.toAddress([petstore.toHost(cluster)]);
const replicas = stack.use(await petstore.startReplicas(Array(petstore.REPLICAS).fill(address)));

const asSuperuser = (sql: string) => queryOnce(cluster.url('petstore'), sql);

function stopWith(signal: StopSignal): Outage {
  return async () => {
    await cluster.stop(signal);
    return () => cluster.start();
  };
}

async function terminate(): Promise<void> {
  await asSuperuser(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'petstore'",
  );
}

/** Sends the signal to the server's processes; with SIGSTOP they neither answer nor close connections. */
async function signalServer(signal: NodeJS.Signals): Promise<void> {
  const { pid } = cluster;
  for (const each of [pid, ...(await listChildren(pid))]) {
    try {
      process.kill(each, signal);
    } catch {
      // The session of an import has just ended.
    }
  }
}

async function stopServerProcesses() {
  await signalServer('SIGSTOP');
  return () => signalServer('SIGCONT');
}

/** Other clients use up every connection that is not the superuser's. */
async function fillConnections() {
  const first = new pg.Client({ connectionString: cluster.url() });
  await first.connect();
  // The service's connections are closed while the others are opened.
  await first.query('alter role petstore connection limit 0');
  await terminate();
  const others = [first];
  while (others.length < CONNECTIONS_MAX - SUPERUSER_CONNECTIONS) {
    const other = new pg.Client({ connectionString: cluster.url() });
    // A connection that the service is just trying may take one of them.
    await other.connect().then(
      () => others.push(other),
      () => undefined,
    );
  }
  await first.query('alter role petstore connection limit -1');
  return () => Promise.all(others.map((other) => other.end()));
}

/** Another session holds the lock that this statement takes. */
function lockWith(statement: string): Outage {
  return async () => {
    const other = await holdInSession({ address: cluster.url('petstore') }, statement);
    return () => other.end('rollback');
  };
}

async function makeReadOnly() {
  await changeSetting('default_transaction_read_only = on');
  return () => changeSetting('default_transaction_read_only = off');
}

async function changeSetting(setting: string): Promise<void> {
  await asSuperuser(`alter system set ${setting}`);
  await asSuperuser('select pg_reload_conf()');
  await sleep(RELOAD_MS);
}

async function changePassword() {
  await asSuperuser("alter role petstore password 'another'");
  await terminate();
  return () => asSuperuser(`alter role petstore password '${petstore.PASSWORD}'`);
}

/** The last page on a full disk still has room for some. */
async function createUntilRefused(): Promise<void> {
  const [service] = replicas.services;
  try {
    for (let count = 0; ; count += 1) {
      const name = `disk ${count}`;
      replicas.created.set(await petstore.create(service, replicas.key, name), name);
    }
  } catch {
    // The load checks what refusals look like.
  }
}

/** The pets are moved to a disk that is full. */
async function fillDisk() {
  const disk = join(cluster.folder, 'disk');
  const { uid } = statSync(cluster.folder);
  mkdirSync(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=64m,uid=${uid},mode=700`, 'tmpfs', disk]);
  await asSuperuser(`create tablespace small location '${disk}'`);
  await asSuperuser('alter table pets set tablespace small');
  const filler = join(disk, 'filler');
  assert.throws(() => writeFileSync(filler, Buffer.alloc(64 * 1024 ** 2)), { code: 'ENOSPC' });
  await createUntilRefused();
  return async () => {
    rmSync(filler);
    await asSuperuser('alter table pets set tablespace pg_default');
    await asSuperuser('drop tablespace small');
    execFileSync('umount', [disk]);
  };
}

const NO_CREATES: Expected = { ...ALL_ANSWERED, create: 'refused' };

const CASES: Readonly<Record<string, Omit<OutageCase, 'name'>>> = {
  'a fast stop': { outage: stopWith('SIGINT') },
  'an immediate stop': { outage: stopWith('SIGQUIT') },
  'a server that is killed': { outage: stopWith('SIGKILL') },
  'a fast restart': { outage: stopWith('SIGINT'), awayMs: 0, clients: 3 },
  'an immediate restart': { outage: stopWith('SIGQUIT'), awayMs: 0, clients: 3 },
  'a restart of a server that is killed': { outage: stopWith('SIGKILL'), awayMs: 0, clients: 3 },
  'a server whose processes stand still': { outage: stopServerProcesses },
  'all backends terminated': {
    outage: () => terminate().then(() => async () => undefined),
    awayMs: 0,
  },
  'no connection left': { outage: fillConnections },
  'another password': { outage: changePassword },
  'a locked table': {
    outage: lockWith('lock table pets'),
    expected: ALL_REFUSED,
  },
  'a table locked against creates': {
    outage: lockWith('lock table pets in share row exclusive mode'),
    expected: NO_CREATES,
  },
  'a full disk': { outage: fillDisk, expected: NO_CREATES },
  // No read either: such a server may be one that another has replaced.
  'a server that takes no writes': { outage: makeReadOnly },
};

for (const [name, each] of Object.entries(CASES)) {
  test(`outage › ${name} › is answered by 503 in time, and over soon`, (t) =>
    endure(t, replicas, { name, importsTo: address, ...each }));
}
