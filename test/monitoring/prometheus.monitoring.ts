/** A real Prometheus that reads the service: the scrape configuration, the alert rules and the dashboard of `deploy/monitoring`. */

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { listChildren } from '../support/children.ts';
import { getAdmin } from '../support/metrics.ts';
import { createTestDatabase, endSessions } from '../support/postgres.ts';
import { startCluster } from '../support/postgres-cluster.ts';
import { type RunningService, startService } from '../support/program.ts';
import { fill, mountDisk } from '../support/small-disk.ts';
import { getFreePort, listen } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const MONITORING = join(import.meta.dirname, '../../deploy/monitoring');
const LOAD_MS = 8_000;

test('promtool › the alert rules and the configuration › are valid', async () => {
  await run('promtool', ['check', 'config', join(MONITORING, 'prometheus.yml')]);
});

interface Settings {
  readonly cwd: string;
  /** Both intervals, which are 15 s in the file. */
  readonly seconds?: number;
  /** What it scrapes. */
  readonly target: string;
}

/** Resolves, when it has read its target, to a function that asks it. Alerts wait for an interval, not for minutes. */
async function startPrometheus(t: TestContext, { cwd, seconds = 1, target }: Settings) {
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
  const count = async (query: string): Promise<number> =>
    (await ask('/api/v1/query', { query })).result.length;
  await until(async () => (await count('up == 1').catch(Number)) === 1);
  const has = (query: string) => async () => (await count(query)) > 0;
  return { ask, count, has };
}

test('Prometheus › two workers under load › has data for every panel and every alert', async (t) => {
  const cwd = createProcessFolder();
  await using database = await createTestDatabase();
  await using service = await startService(
    ['--database', database.address, '--workers', '2', '--admin-port', '0'],
    { cwd },
  );
  const target = toTarget(service);
  const { ask, count } = await startPrometheus(t, { cwd, target });
  await load(`${service.url}/v1/pets`, service.key);
  const dashboard = await readFile(join(MONITORING, 'dashboard.json'), 'utf8');
  for (const { title, targets } of JSON.parse(dashboard).panels) {
    for (const { expr } of targets) {
      const query = expr.replaceAll('$__rate_interval', '10s').replaceAll('$instance', '.*');
      assert.ok((await count(query)) > 0, `${title}: ${query}`);
    }
  }
  for (const { rules } of (await ask('/api/v1/rules')).groups) {
    for (const { name, health, query } of rules) {
      assert.equal(health, 'ok', name);
      // Every series that an alert compares exists.
      for (const series of query.match(/[a-z_0-9]+(?=\{)/g) ?? [])
        assert.ok((await count(series)) > 0, series);
    }
  }
});

test('Prometheus › PostgreSQL stops while nobody sends requests › raises an alert, and has the broken connection', async (t) => {
  const cwd = createProcessFolder();
  await using cluster = await startCluster();
  const args = ['--database', cluster.url(), '--admin-port', '0'];
  await using service = await startService(args, { cwd });
  const { has } = await startPrometheus(t, { cwd, target: toTarget(service) });
  await until(has('petstore_ready == 1'));
  await cluster.stop();
  await until(has(toFiring('PetstoreNotReady')));
  await until(has('petstore_database_broken_connections_total > 0'));
  await cluster.start();
  await until(has('petstore_ready == 1'));
});

const ALERT_MS_MAX = 120_000;

const toTarget = (service: RunningService) => new URL(getAdmin(service)).host;
const toFiring = (alert: string) => `ALERTS{alertname="${alert}",alertstate="firing"}`;

for (const [alert, args, happen] of [
  ['PetstoreDown', [], killService],
  ['PetstoreWorkersSilent', ['--workers', '2'], stopWorker],
  ['PetstoreLogDropped', [], stopReading],
] as const) {
  test(`Prometheus › ${alert} › fires`, async (t) => {
    const cwd = createProcessFolder();
    await using service = await startService([...args, '--admin-port', '0'], { cwd });
    // A worker that is stopped is waited for.
    const { has } = await startPrometheus(t, { cwd, target: toTarget(service), seconds: 5 });
    const end = await happen(service);
    await until(has(toFiring(alert)), ALERT_MS_MAX).finally(end);
  });
}

test('Prometheus › PetstoreAbsent › fires if another program is scraped', async (t) => {
  const cwd = createProcessFolder();
  await using other = createServer((_, answer) => answer.end('up_to_date 1\n'));
  const target = `127.0.0.1:${await listen(other)}`;
  const { has } = await startPrometheus(t, { cwd, target });
  await until(has(toFiring('PetstoreAbsent')));
});

test('Prometheus › PetstoreDatabaseConnectionsBreak › fires if sessions end again and again', async (t) => {
  const cwd = createProcessFolder();
  await using database = await createTestDatabase();
  const args = ['--database', database.address, '--admin-port', '0'];
  await using service = await startService(args, { cwd });
  const { has } = await startPrometheus(t, { cwd, target: toTarget(service) });
  const hasFired = has(toFiring('PetstoreDatabaseConnectionsBreak'));
  await until(async () => {
    await endSessions(database.address);
    await sleep(500);
    return hasFired();
  });
});

test('Prometheus › PetstoreDatabaseFull › fires within two minutes, without other alerts', async (t) => {
  const cwd = createProcessFolder();
  const disk = join(cwd, 'disk');
  using _mounted = mountDisk(disk);
  const args = ['--database', 'sqlite:disk/petstore.db', '--admin-port', '0'];
  await using service = await startService(args, { cwd });
  // In the intervals of the files.
  const { count } = await startPrometheus(t, { cwd, target: toTarget(service), seconds: 15 });
  fill(disk);
  const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'x'.repeat(255), categoryId: 1 });
  const create = async () => {
    const answer = await fetch(`${service.url}/v1/pets`, { method: 'POST', headers, body });
    await answer.bytes();
    return answer.status;
  };
  await until(async () => (await create()) === 503);
  const fullAt = performance.now();
  await until(async () => {
    await create();
    await sleep(5_000);
    return (await count(toFiring('PetstoreDatabaseFull'))) > 0;
  }, ALERT_MS_MAX);
  t.diagnostic(`fired after ${Math.round((performance.now() - fullAt) / 1_000)} s`);
  assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
});

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
