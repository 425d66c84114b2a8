/** How the program starts, seen by the person who starts it. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { runCurl } from '../support/curl.ts';
import { getAdmin, readMetrics, sum } from '../support/metrics.ts';
import { readFacts, readStart, startService } from '../support/program.ts';
import { openConnection } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until, within } from '../support/until.ts';

/** How many connections Linux lets a program ask it to keep. */
const SOMAXCONN = '/proc/sys/net/core/somaxconn';
const BURST = 1_000;
const NO_BURST =
  !(existsSync(SOMAXCONN) && Number(readFileSync(SOMAXCONN)) > BURST) &&
  'this system keeps fewer connections';
const ENV_EXAMPLE = join(import.meta.dirname, '../../deploy/env.example');

/** Executes a printed line in the checkout, as someone does who pastes it where the service was started. */
function paste(line: string): Promise<{ stdout: string }> {
  return promisify(execFile)('sh', ['-c', line], { cwd: join(import.meta.dirname, '../..') });
}

// A shell must not act on any character of it.
const cwd = join(createProcessFolder(), "the store's $(false) & more");
mkdirSync(cwd);
const service = await startService([], { cwd });
after(() => service[Symbol.asyncDispose]());

test('first start in staging › the lines that it prints › list the pets, and open the console', async () => {
  const { stdout, stderr } = service.output;
  const [empty, , key = '', , curl = '', , link = '', ...rest] = stdout.split('\n');
  assert.deepEqual([empty, ...rest], ['', '']);
  assert.equal(key.trim(), service.key);
  assert.deepEqual(await runCurl(curl.trim()), { status: 200, body: '[]' });
  const { origin, pathname, hash } = new URL(link.trim());
  assert.deepEqual([origin, hash], [service.url, `#key=${service.key}`]);
  assert.equal((await fetch(`${origin}${pathname}`)).status, 200);
  assert.ok(!stderr.includes(service.key), stderr);
  assert.doesNotMatch(stderr, /"level":"(?!info)/);
  assert.deepEqual(readFacts(service), {
    msg: `petstore ${manifest.version} listens on http://127.0.0.1:${service.port}`,
    api: `${service.url}/v1`,
    console: `${service.url}/console`,
    docs: `${service.url}/docs`,
    store: `sqlite:${cwd}/petstore.db, new`,
    environment: 'staging',
    keys: 'npm run -s petstore -- keys create --name NAME --environment staging',
  });
});

for (const [output, workers] of [
  ['>/dev/full', 1],
  ['>/dev/full', 2],
  ['> >(true)', 1],
  ['>&-', 1],
  ['>/dev/null', 1],
] as const) {
  test(`first start with ${workers} workers and ${output} › the log says that its key was not shown, and it goes on`, async () => {
    const cwd = createProcessFolder();
    const within = ['bash', '-c', `exec "$0" "$@" ${output}`];
    await using service = await startService(['--workers', `${workers}`], { cwd, within });
    const { output: printed, url } = service;
    await until(() => printed.stderr.includes('not shown'));
    const lines = printed.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const make = 'npm run -s petstore -- keys create --name NAME --environment staging';
    const line = `the first key was not shown, since standard output is full, closed or /dev/null: revoke it (see keys list), and make another: ${make}`;
    assert.deepEqual(
      lines.filter(({ level }) => level === 'warn').map(({ msg }) => msg),
      [line],
    );
    assert.equal((await fetch(`${url}/livez`)).status, 200);
  });
}

test('start in production, by deploy/env.example › no key yet › says how to make one and prints no secret', async () => {
  const within = ['sh', '-c', `set -a; . ${ENV_EXAMPLE}; exec "$0" "$@"`];
  const args = ['--database', 'sqlite:production.db', '--admin-port', '0'];
  await using production = await startService(args, { cwd, within });
  const [hint = '', ...rest] = readStart(production).split('\n');
  assert.equal(rest.length, 2);
  const { store, environment, keys } = readFacts(production);
  assert.deepEqual(
    { store, environment, keys },
    { store: `sqlite:${cwd}/production.db, new`, environment: 'production', keys: undefined },
  );
  const [words, command = ''] = hint.split(/: (.*)/);
  assert.equal(
    words,
    `no key was ever made in sqlite:${cwd}/production.db, so /readyz is 503; to make one`,
  );
  assert.equal(production.output.stdout, '');
  assert.doesNotMatch(production.output.stderr, /petstore_(?:stag|prod)_/);

  const isReady = async (url: string) => (await fetch(`${url}/readyz`)).ok;
  const isReadyEach = () => Promise.all([production.url, getAdmin(production)].map(isReady));
  const readReady = async () => sum(await readMetrics(production), 'petstore_ready');
  assert.deepEqual([await isReadyEach(), await readReady()], [[false, false], 0]);
  const made = await paste(command);
  // Each check is a second old at most.
  await until(async () => (await readReady()) === 1);
  await until(async () => (await isReadyEach()).every(Boolean));
  for (const [url, key, status] of [
    [production.url, made.stdout.trim(), 200],
    [production.url, service.key, 401],
    [service.url, made.stdout.trim(), 401],
    [service.url, service.key, 200],
  ] as const) {
    const answer = await fetch(`${url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(answer.status, status);
  }
});

test('serve › a burst of connections while it is busy › keeps all, so that none must try again', {
  skip: NO_BURST,
}, async () => {
  service.process.kill('SIGSTOP');
  const burst = Array.from({ length: BURST }, () => openConnection(service.port));
  // Beyond the backlog, none of them is connected until the service goes on.
  const connected = Promise.all(burst.map(({ socket }) => once(socket, 'connect')));
  await within(connected).finally(() => {
    service.process.kill('SIGCONT');
    for (const { socket } of burst) socket.destroy();
  });
});
