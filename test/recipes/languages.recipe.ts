/** The recipes of `docs/recipes`, run against the real service, with lost, refused and late answers, or against a server of something else. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { TokenBuckets } from '../../src/http/hooks/rate-limit.ts';
import { startTestApp } from '../support/app.ts';
import { HANG_MS } from '../support/hang.ts';
import { listen } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

/** Where the recipes are. */
const RECIPES = fileURLToPath(new URL('../../docs/recipes/', import.meta.url));

/** Three pages of 100, with the one that a recipe adds. */
const PETS = 205;
/** A little less than the 1 s that every Retry-After says, since timers may be early. */
const PAUSE_MS_MIN = 990;

/**
 * Runs a recipe. The answer to its first create is lost after the pet was added, its second request is
 * answered 503, and two requests are answered 429 by the rate limit. It must send them again, when
 * Retry-After says, and the pet must be there once. `names` are the pets, in the order of their ids.
 */
async function runRecipe(command: string, args: readonly string[]) {
  await using stack = new AsyncDisposableStack();
  let now = 0;
  const rateLimiter = new TokenBuckets(3, 3, () => now);
  const service = stack.use(await startTestApp({ rateLimiter }));
  const seeds = Array.from({ length: PETS }, (_, index) => `Pet ${index + 1}`);
  for (const name of seeds) await service.store.pets.add({ name, categoryId: 7n });

  const statuses: (number | 'lost' | 'early')[] = [];
  let retryAt = 0;
  const refuse = () => {
    retryAt = performance.now() + PAUSE_MS_MIN;
  };
  const proxy = createServer((incoming, outgoing) => {
    if (performance.now() < retryAt) statuses.push('early');
    if (statuses.length === 1) {
      statuses.push(503);
      refuse();
      outgoing.writeHead(503, { 'retry-after': '1', 'content-type': 'application/json' });
      outgoing.end('{"code":"unavailable","message":"try again","status":503}');
      return;
    }
    const { method, headers, url } = incoming;
    const to = { host: '127.0.0.1', port: service.port, method, headers, path: url };
    const onward = request(to, (answer) => {
      if (statuses.length === 0) {
        statuses.push('lost');
        outgoing.destroy();
        return;
      }
      statuses.push(answer.statusCode ?? 0);
      if (answer.statusCode === 429) {
        refuse();
        // So that the rate limit refuses by the number of requests, and not by the speed of the machine.
        now += 1_000;
      }
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  stack.use(proxy);
  stack.defer(() => proxy.closeAllConnections());
  const base = `http://127.0.0.1:${await listen(proxy)}/v1`;

  const ran = await promisify(execFile)(command, [...args, base], {
    cwd: RECIPES,
    env: { ...process.env, KEY: service.key },
    timeout: HANG_MS,
    killSignal: 'SIGKILL',
  });
  assert.deepEqual(statuses, ['lost', 503, 201, 201, 429, 200, 200, 200, 429, 400]);
  const names = [];
  for (let id = 1n; id <= PETS + 2; id += 1n) names.push((await service.store.pets.find(id))?.name);
  return { ...ran, names: names.filter((name) => name !== undefined) };
}

const LIMIT_MESSAGE = 'limit must be a whole number from 1 to 100';

/** Runs a recipe whose lines are the same in each language, but for what the package has of its own. */
async function assertRecipe(
  command: string,
  args: readonly string[],
  replayed = ', replayed',
  refusal = `400: {"code":"bad_request","message":"${LIMIT_MESSAGE}","status":400}`,
): Promise<void> {
  const { stdout, names } = await runRecipe(command, args);
  assert.equal(names.length, PETS + 1);
  assert.deepEqual(stdout.trimEnd().split('\n'), [
    `added ${names.length}, category 9223372036854775807`,
    `sent again: ${names.length}${replayed}`,
    ...names.map((name, index) => `${index + 1} ${name}`),
    refusal,
  ]);
}

/** Asserts that a recipe without its arguments says how it is started. */
async function assertUsage(command: string, file: string): Promise<void> {
  for (const [key, ...address] of [['', 'http://127.0.0.1:1/v1'], ['petstore_stag_x']] as const) {
    const stderr = await runFailing(command, [file, ...address], key);
    assert.match(stderr, /usage: KEY=… .*http:\/\/127\.0\.0\.1:8080\/v1/);
  }
}

/** Asserts that a recipe ends when an answer is no error of the service, and sends its key nowhere else. */
async function assertFailures(command: string, file: string): Promise<void> {
  const pet = '{"id":1,"categoryId":3}';
  const answers = [
    [404, '<p>no such page</p>'],
    [201, pet],
    [201, pet],
    [200, '[]'],
  ] as [number, string][];
  await using server = createServer(({ socket }, response) => {
    const link = `<http://localhost:${socket.localPort}/v1/pets?cursor=a>; rel="next"`;
    const [status, body] = answers.shift() ?? [400, 'this should not be asked'];
    response.writeHead(status, { link, connection: 'close' }).end(body);
  });
  const url = `http://127.0.0.1:${await listen(server)}/v1`;
  for (const says of [/no such page/, /next page is at another origin: http:\/\/localhost:/]) {
    assert.match(await runFailing(command, [file, url], 'x'), says);
  }
  assert.deepEqual(answers, []);
}

/** Tests of a recipe whose lines are the same in each language. */
function testRecipe(language: string, command: string, file: string): void {
  test(`recipe in ${language} › with lost, refused and late answers › adds a pet once, and reads every page exactly`, () =>
    assertRecipe(command, [file]));
  testRefusals(language, command, file);
}

function testRefusals(language: string, command: string, file: string): void {
  test(`recipe in ${language} › an answer of another server, or a next page there › ends it`, () =>
    assertFailures(command, file));

  test(`recipe in ${language} › without a key or an address › says how it is started`, () =>
    assertUsage(command, file));
}

/** What it writes to standard error. */
async function runFailing(command: string, args: readonly string[], KEY: string): Promise<string> {
  const options = { cwd: RECIPES, env: { ...process.env, KEY }, timeout: HANG_MS };
  return promisify(execFile)(command, args, options).then(
    ({ stdout }) => assert.fail(`it succeeded: ${stdout}`),
    ({ stderr }) => stderr,
  );
}

/** What `petstore-client` is in the checkout. */
const CLIENT = new URL('../../client/petstore-client.ts', import.meta.url).href;

test('recipe in curl › with lost, refused and late answers › adds a pet once, and prints every page and why it was refused', async () => {
  const { stdout, stderr, names } = await runRecipe('bash', ['curl.sh']);
  const added = `{"id":${names.length},"name":"Rex","categoryId":9223372036854775807}`;
  const [first, second, ...pages] = stdout.trimEnd().split('\n');
  assert.deepEqual([first, second], [`${added} (replayed)`, `${added} (replayed)`]);
  assert.equal(pages.length, 4);
  const listed = pages.slice(0, 3).flatMap((page) => JSON.parse(page));
  assert.deepEqual(
    listed.map(({ name }) => name),
    names,
  );
  assert.ok(pages[2]?.endsWith(`${added}]`));
  assert.equal(pages[3], 'the service refused it');
  assert.match(stderr, /^\{"code":"bad_request","message":"limit must be a whole number /);
});

testRefusals('curl', 'bash', 'curl.sh');
testRecipe('Python', 'python3', 'python.py');
testRecipe('TypeScript without a package', process.execPath, 'fetch.ts');

test('recipe in TypeScript with the package › with lost, refused and late answers › adds a pet once, and reads every page exactly', async () => {
  const folder = createProcessFolder();
  const text = await readFile(join(RECIPES, 'package.ts'), 'utf8');
  const main = join(folder, 'package.ts');
  await writeFile(main, text.replace("'petstore-client'", `'${CLIENT}'`));
  await assertRecipe(process.execPath, [main], '', `400 bad_request: ${LIMIT_MESSAGE}`);
  await assertUsage(process.execPath, main);
});
