/** A real Prometheus that reads the service: the scrape configuration, the alert rules and the dashboard of `deploy/monitoring`. */

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../../src/storage/open.ts';
import { RIGHTS } from '../../src/storage/tables.ts';
import { listChildren } from '../support/children.ts';
import { getAdmin } from '../support/metrics.ts';
import { createTestDatabase, endSessions } from '../support/postgres.ts';
import { queryOnce, startCluster } from '../support/postgres-cluster.ts';
import { type RunningService, startService } from '../support/program.ts';
import { failDisk, fill, mountDisk, mountFailingDisk } from '../support/small-disk.ts';
import { getFreePort, listen } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const MONITORING = join(import.meta.dirname, '../../deploy/monitoring');
const LOAD_MS = 8_000;
const ALERT_MS_MAX = 120_000;

const toFiring = (alert: string) => `ALERTS{alertname="${alert}",alertstate="firing"}`;

/**
 * Resolves, when Prometheus has read its target, to functions that ask it. Alerts wait for an interval, not for
 * minutes.
 *
 * @param seconds both intervals, which are 15 s in the file.
 */
async function startPrometheus(t: TestContext, target: string, seconds = 1) {
  const cwd = createProcessFolder();
  await cp(MONITORING, cwd, { recursive: true });
  for (const [file, from, to] of [
    ['prometheus.yml', '127.0.0.1:9464', target],
    ['prometheus.yml', '15s', `${seconds}s`],
    ['alerts.yml', 'for: 1m', `for: ${seconds}s`],
  ] as const) {
    const text = await readFile(join(cwd, file), 'utf8');
    assert.ok(text.includes(from), from);
    await writeFile(join(cwd, file), text.replaceAll(from, to));
  }
  const port = await getFreePort();
  const args = ['--config.file=prometheus.yml', '--storage.tsdb.path=data'];
  args.push(`--web.listen-address=127.0.0.1:${port}`);
  const prometheus = spawn('prometheus', args, { cwd, stdio: 'ignore' });
  t.after(() => prometheus.kill('SIGKILL'));

  const ask = async (path: string, parameters: Record<string, string> = {}) => {
    const query = new URLSearchParams(parameters);
    const answer = await fetch(`http://127.0.0.1:${port}${path}?${query}`);
    const text = await answer.text();
    assert.equal(answer.status, 200, `${path} ${query}: ${text}`);
    return JSON.parse(text).data;
  };
  const has = (query: string) => async () =>
    (await ask('/api/v1/query', { query })).result.length > 0;
  await until(() => has('up == 1')().catch(() => false));
  return { ask, has };
}

const toTarget = (service: RunningService) => new URL(getAdmin(service)).host;

/** A service that Prometheus reads. */
async function startWatched(t: TestContext, args: readonly string[], seconds?: number) {
  const cwd = createProcessFolder();
  const service = await startService([...args, '--admin-port', '0'], { cwd });
  t.after(() => service[Symbol.asyncDispose]());
  return { service, ...(await startPrometheus(t, toTarget(service), seconds)) };
}

test('Prometheus › two workers under load › has data for every panel and every alert', async (t) => {
  await using database = await createTestDatabase();
  const args = ['--database', database.address, '--workers', '2'];
  const { service, ask, has } = await startWatched(t, args);
  await load(`${service.url}/v1/pets`, service.key);
  const dashboard = await readFile(join(MONITORING, 'dashboard.json'), 'utf8');
  for (const { title, targets } of JSON.parse(dashboard).panels) {
    for (const { expr } of targets) {
      const query = expr.replaceAll('$__rate_interval', '10s').replaceAll('$instance', '.*');
      assert.ok(await has(query)(), `${title}: ${query}`);
    }
  }
  for (const { rules } of (await ask('/api/v1/rules')).groups) {
    for (const { name, health, query } of rules) {
      assert.equal(health, 'ok', name);
      // Every series that an alert compares exists.
      for (const series of query.match(/[a-z_0-9]+(?=\{)/g) ?? [])
        assert.ok(await has(series)(), series);
    }
  }
});

test('Prometheus › PostgreSQL stops while nobody sends requests › raises an alert, and has the broken connection', async (t) => {
  await using cluster = await startCluster();
  const { has } = await startWatched(t, ['--database', cluster.url()]);
  await until(has('petstore_ready == 1'));
  await cluster.stop();
  await until(has(toFiring('PetstoreNotReady')));
  await until(has('petstore_database_broken_connections_total > 0'));
  await cluster.start();
  await until(has('petstore_ready == 1'));
});

for (const [alert, args, happen] of [
  ['PetstoreDown', [], killService],
  ['PetstoreWorkersSilent', ['--workers', '2'], stopWorker],
  ['PetstoreLogDropped', [], stopReading],
] as const) {
  test(`Prometheus › ${alert} › fires`, async (t) => {
    // A worker that is stopped is waited for.
    const { service, has } = await startWatched(t, args, 5);
    const end = await happen(service);
    await until(has(toFiring(alert)), ALERT_MS_MAX).finally(end);
  });
}

test('Prometheus › PetstoreAbsent › fires if another program is scraped', async (t) => {
  await using other = createServer((_, answer) => answer.end('up_to_date 1\n'));
  const { has } = await startPrometheus(t, `127.0.0.1:${await listen(other)}`);
  await until(has(toFiring('PetstoreAbsent')));
});

test('Prometheus › PetstoreDatabaseConnectionsBreak › fires if sessions end again and again', async (t) => {
  await using database = await createTestDatabase();
  const { has } = await startWatched(t, ['--database', database.address]);
  const hasFired = has(toFiring('PetstoreDatabaseConnectionsBreak'));
  await until(async () => {
    await endSessions(database.address);
    await sleep(500);
    return hasFired();
  });
});

/** Makes creates fail, while reads work. The function that is returned ends this. */
type Fault = (service: RunningService, place: FaultPlace) => (() => void) | Promise<() => void>;

interface FaultPlace {
  readonly disk: string;
  readonly database: string;
}

const FAULTS: readonly (readonly [what: string, reason: RegExp, makeFault: Fault])[] = [
  ['a full disk', /cannot grow: the disk is full/, (_, { disk }) => fill(disk)],
  ['a disk that fails and turns read-only', /disk|read-only/, (_, { disk }) => failDisk(disk)],
  ['a file that may not grow', /cannot grow|disk/, forbidGrowth],
  ['a lock of another process', /locked by another process/, (_, { database }) => lock(database)],
];

describe('Prometheus › PetstoreRouteFails', { concurrency: FAULTS.length + 1 }, () => {
  for (const [what, reason, makeFault] of FAULTS) {
    test(`Prometheus › PetstoreRouteFails › ${what} › fires within two minutes, and names the reason`, async (t) => {
      const cwd = createProcessFolder();
      const disk = join(cwd, 'disk');
      using _mounted = what.includes('fails') ? mountFailingDisk(disk) : mountDisk(disk);
      const database = join(disk, 'petstore.db');
      const args = ['--database', `sqlite:${database}`, '--admin-port', '0'];
      await using service = await startService(args, { cwd });
      await assertFires(t, service, reason, () => makeFault(service, { disk, database }));
    });
  }

  test('Prometheus › PetstoreRouteFails › PostgreSQL without the right to insert › fires within two minutes, and names the reason', async (t) => {
    await using cluster = await startCluster();
    const asOwner = (sql: string) => queryOnce(cluster.url(), sql);
    await (await openStore(cluster.url(), { create: true })).close();
    await asOwner('create role petstore login');
    for (const [table, rights] of RIGHTS) await asOwner(`grant ${rights} on ${table} to petstore`);
    const address = cluster.url().replace('//postgres@', '//petstore@');
    const args = ['--database', address, '--admin-port', '0'];
    await using service = await startService(args, { cwd: cluster.folder });
    await assertFires(t, service, /does not let this user do/, async () => {
      await asOwner('revoke insert on pets from petstore');
      return () => undefined;
    });
  });
});

async function assertFires(
  t: TestContext,
  { url, key, ...service }: RunningService,
  reason: RegExp,
  makeFault: () => ReturnType<Fault>,
): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'x'.repeat(255), categoryId: 1 });
  const create = async () => {
    const answer = await fetch(`${url}/v1/pets`, { method: 'POST', headers, body });
    await answer.bytes();
    return answer.status;
  };
  const list = async () => (await fetch(`${url}/v1/pets?limit=1`, { headers })).bytes();
  assert.equal(await create(), 201);
  // In the intervals of the files.
  const { ask } = await startPrometheus(t, toTarget({ url, key, ...service }), 15);
  const find = async () => {
    const { alerts } = await ask('/api/v1/alerts');
    return alerts.filter(({ state }: { state: string }) => state === 'firing');
  };
  // Before the first scrape, PetstoreAbsent may have fired.
  await until(async () => (await find()).length === 0);
  const end = await makeFault();
  await until(async () => (await create()) === 503);
  await until(async () => {
    await create();
    // Of all requests, creates are too few for PetstoreErrors.
    for (let count = 0; count < 100; count += 1) await list();
    await sleep(2_000);
    return (await find()).length > 0;
  }, ALERT_MS_MAX);
  const [{ labels, annotations }, ...others] = await find();
  assert.deepEqual(others, []);
  const { alertname, method, route } = labels;
  assert.deepEqual([alertname, method, route], ['PetstoreRouteFails', 'POST', '/v1/pets']);
  assert.match(annotations.description, reason);
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
  end();
}

/** No file of the service may grow any more. */
function forbidGrowth({ process: { pid } }: RunningService, { database }: FaultPlace) {
  const bytes = statSync(`${database}-wal`).size;
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);
  return () => undefined;
}

function lock(file: string): () => void {
  const other = new DatabaseSync(file);
  other.exec('begin immediate');
  return () => other.close();
}

async function killService({ process }: RunningService) {
  process.kill('SIGKILL');
  return undefined;
}

/** One of the workers does not answer any more. */
async function stopWorker({ process: { pid } }: RunningService) {
  const [worker = Number.NaN] = await listChildren(pid);
  process.kill(worker, 'SIGSTOP');
  // Its pipes would keep the service from being seen to end.
  return () => process.kill(worker, 'SIGKILL');
}

/** Nobody reads standard error any more, and there are more lines than the service keeps. */
async function stopReading({ process, url, key }: RunningService) {
  process.stderr?.pause();
  const headers = { authorization: `Bearer ${key}` };
  const ask = async () => {
    for (let count = 0; count < 3_000; count += 1) {
      await (await fetch(`${url}/v1/pets`, { headers })).bytes();
    }
  };
  await Promise.all(Array.from({ length: 16 }, ask));
  return undefined;
}

/** Lists, creates and refusals for a while. */
async function load(url: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const end = performance.now() + LOAD_MS;
  while (performance.now() < end) {
    const post = { method: 'POST', headers, body: '{"name":"Rex","categoryId":1}' };
    const sent = [fetch(url, { headers }), fetch(url, post), fetch(`${url}/1`, { headers })];
    for (const answer of await Promise.all([...sent, fetch(url)])) await answer.bytes();
    await sleep(20);
  }
}
