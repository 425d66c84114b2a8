/** A real Prometheus that reads the service: the scrape configuration, the alert rules and the dashboard of `deploy/monitoring`. */

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { getAdmin } from '../support/metrics.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startCluster } from '../support/postgres-cluster.ts';
import { type RunningService, startService } from '../support/program.ts';
import { getFreePort } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const MONITORING = join(import.meta.dirname, '../../deploy/monitoring');
const LOAD_MS = 8_000;

test('promtool › the alert rules and the configuration › are valid', async () => {
  await run('promtool', ['check', 'config', join(MONITORING, 'prometheus.yml')]);
});

/** Resolves, when it has read the service, to a function that asks it. */
async function startPrometheus(t: TestContext, service: RunningService, cwd: string) {
  const { host } = new URL(getAdmin(service));
  await cp(MONITORING, cwd, { recursive: true });
  const configuration = await readFile(join(MONITORING, 'prometheus.yml'), 'utf8');
  await writeFile(
    join(cwd, 'prometheus.yml'),
    configuration.replaceAll('127.0.0.1:9090', host).replaceAll('15s', '1s'),
  );
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
  return { ask, count };
}

test('Prometheus › two workers under load › has data for every panel and every alert', async (t) => {
  const cwd = createProcessFolder();
  await using database = await createTestDatabase();
  await using service = await startService(
    ['--database', database.address, '--workers', '2', '--admin-port', '0'],
    { cwd },
  );
  const { ask, count } = await startPrometheus(t, service, cwd);
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
  const { count } = await startPrometheus(t, service, cwd);
  const has = (query: string) => async () => (await count(query)) > 0;
  await until(has('petstore_ready == 1'));
  await cluster.stop();
  await until(has('ALERTS{alertname="PetstoreNotReady",alertstate="firing"}'));
  await until(has('petstore_database_broken_connections_total > 0'));
  await cluster.start();
  await until(has('petstore_ready == 1'));
});

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
