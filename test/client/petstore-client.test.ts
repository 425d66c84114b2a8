/** The typed client against the real service: exact numbers, all pages, one pet for each create, retries and errors. */

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { after, type TestContext, test } from 'node:test';
import {
  type Pet,
  PetstoreClient,
  PetstoreClientError,
  type PetstoreClientOptions,
} from '../../src/client/petstore-client.ts';
import { INT64_MAX, INT64_MIN } from '../../src/int64.ts';
import { startTestApp } from '../support/app.ts';
import { disposable } from '../support/disposable.ts';
import { listen } from '../support/socket.ts';
import { within } from '../support/until.ts';

const service = await startTestApp();
after(() => service[Symbol.asyncDispose]());
const baseUrl = `http://127.0.0.1:${service.port}/v1`;
const client = new PetstoreClient({ baseUrl, apiKey: service.key });
const REX = { name: 'Rex', categoryId: 3n } as const;

async function readAll(pets: AsyncIterable<Pet>): Promise<Pet[]> {
  const all: Pet[] = [];
  for await (const pet of pets) all.push(pet);
  return all;
}

for (const newPet of [
  { name: 'Rex', categoryId: INT64_MAX, status: 'sold' },
  { name: '12, "34": -5.6e7 \\ \u{1f436}', categoryId: INT64_MIN },
  { name: '{"id":9223372036854775807}', categoryId: 0n, status: 'available' },
] as const) {
  test(`create › ${JSON.stringify(newPet.name)} in category ${newPet.categoryId} › is answered, got and listed exactly`, async () => {
    const pet = await client.create(newPet);
    assert.equal(typeof pet.id, 'bigint');
    assert.deepEqual(pet, { id: pet.id, ...newPet });
    assert.deepEqual(await client.get(pet.id), pet);
    assert.deepEqual((await readAll(client.list())).at(-1), pet);
  });
}

test('list › more pets than a page of a status › reads every page, and those of that status alone', async () => {
  await using app = await startTestApp();
  const own = new PetstoreClient({
    baseUrl: `http://127.0.0.1:${app.port}/v1/`,
    apiKey: app.key,
  });
  for (let index = 0; index < 25; index += 1) {
    await app.store.pets.add({ ...REX, name: `${index}`, status: index % 5 ? 'sold' : 'pending' });
  }
  assert.equal((await readAll(own.list())).length, 25);
  const sold = await readAll(own.list({ status: 'sold', limit: 7 }));
  assert.equal(sold.length, 20);
  assert.ok(sold.every(({ status }) => status === 'sold'));
  const page = await own.listPage({ status: 'sold', limit: 15 });
  assert.equal(page.pets.length, 15);
  const rest = await own.listPage({ status: 'sold', limit: 15, cursor: page.next });
  assert.deepEqual([...page.pets, ...rest.pets], sold);
  assert.equal('next' in rest, false);
});

test('list › left after the first pet › asks for one page', async () => {
  let count = 0;
  const counting = new PetstoreClient({
    baseUrl,
    apiKey: service.key,
    fetch: (...args) => {
      count += 1;
      return fetch(...args);
    },
  });
  for await (const pet of counting.list({ limit: 1 })) {
    assert.equal(typeof pet.name, 'string');
    break;
  }
  assert.equal(count, 1);
});

for (const [what, call, code, status, message] of [
  ['a blank name', () => client.create({ ...REX, name: ' ' }), 'bad_request', 400, /^name must/],
  ['an id that is not there', () => client.get(INT64_MAX), 'not_found', 404, /no pet/],
  ['a limit of 0', () => client.listPage({ limit: 0 }), 'bad_request', 400, /^limit must/],
  [
    'a wrong key',
    () => new PetstoreClient({ baseUrl, apiKey: 'x' }).listPage(),
    'unauthorized',
    401,
    /API key/,
  ],
] as const) {
  test(`client › ${what} › throws ${code}, and is not sent again`, async () => {
    const before = service.log.length;
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof PetstoreClientError);
      assert.equal(error.code, code);
      assert.equal(error.status, status);
      assert.match(error.message, message);
      assert.equal(error.requestId, service.log.at(-1)?.requestId);
      return true;
    });
    assert.equal(service.log.length - before, 1);
  });
}

test('create › another pet with the same idempotencyKey › throws idempotency_key_reused', async () => {
  const idempotencyKey = 'order-1';
  const pet = await client.create(REX, { idempotencyKey });
  assert.deepEqual(await client.create(REX, { idempotencyKey }), pet);
  await assert.rejects(client.create({ ...REX, name: 'Mia' }, { idempotencyKey }), {
    code: 'idempotency_key_reused',
    status: 422,
  });
});

test('create › twice without an idempotencyKey › adds two pets', async () => {
  assert.notEqual((await client.create(REX)).id, (await client.create(REX)).id);
});

type Listener = (request: IncomingMessage, response: ServerResponse, count: number) => void;

/** A server that answers in place of the service, and a client of it. */
async function startServer(listener: Listener, options: Partial<PetstoreClientOptions> = {}) {
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    listener(request, response, count);
  });
  const port = await listen(server);
  return disposable({
    client: new PetstoreClient({
      baseUrl: `http://127.0.0.1:${port}/v1`,
      apiKey: service.key,
      ...options,
    }),
    count: () => count,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

test('create › whose answer is lost after the pet was added › is sent again and adds none', async () => {
  const before = (await readAll(client.list())).length;
  const lossy = new PetstoreClient({
    baseUrl,
    apiKey: service.key,
    fetch: async (...args) => {
      const response = await fetch(...args);
      if (response.headers.has('idempotency-replayed')) return response;
      throw new TypeError('the connection broke');
    },
  });
  const pet = await lossy.create(REX);
  const pets = await readAll(client.list());
  assert.equal(pets.length, before + 1);
  assert.deepEqual(pets.at(-1), pet);
});

for (const status of [429, 503]) {
  test(`client › an answer of ${status} with Retry-After › is sent again, and not sooner`, async () => {
    const times: number[] = [];
    await using started = await startServer((_request, response, count) => {
      times.push(performance.now());
      if (count > 1) response.end('[]');
      else {
        response.writeHead(status, { 'retry-after': '1' });
        response.end('{"code":"unavailable","message":"later","status":503}');
      }
    });
    assert.deepEqual(await started.client.listPage(), { pets: [] });
    const [first = 0, second = 0] = times;
    assert.ok(second - first >= 1_000, `${second - first} ms`);
  });
}

for (const [what, options, headers, expected] of [
  ['a Retry-After of 61 s', {}, { 'retry-after': '61' }, 1],
  ['retries: 0', { retries: 0 }, {}, 1],
  ['retries: 2', { retries: 2 }, {}, 3],
] satisfies [string, object, Record<string, string>, number][]) {
  test(`client › 503 for ever, with ${what} › throws after ${expected} requests`, async () => {
    await using started = await startServer((_request, response) => {
      response.writeHead(503, { 'x-request-id': 'seven', ...headers });
      response.end('{"code":"unavailable","message":"later","status":503}');
    }, options);
    await assert.rejects(started.client.listPage(), {
      code: 'unavailable',
      status: 503,
      requestId: 'seven',
      message: 'later',
      retryAfterSeconds: 'retry-after' in headers ? 61 : undefined,
    });
    assert.equal(started.count(), expected);
  });
}

for (const [what, status, body] of [
  ['HTML of a proxy', 404, '<h1>Not Found</h1>'],
  ['an error without a message', 400, '{"code":"bad_request"}'],
  ['a page that is no list', 200, '{}'],
  ['a list of what are no pets', 200, '[7]'],
  ['JSON that is cut off', 200, '[{"id":1'],
] as const) {
  test(`client › ${what} › throws invalid_answer with the status`, async () => {
    await using started = await startServer((_request, response) => {
      response.writeHead(status);
      response.end(body);
    });
    await assert.rejects(started.client.listPage(), { code: 'invalid_answer', status });
    assert.equal(started.count(), 1);
  });
}

test('client › no answer within timeoutMs › throws no_answer with the cause', async () => {
  let count = 0;
  const waiting = new PetstoreClient({
    baseUrl,
    apiKey: service.key,
    timeoutMs: 1,
    retries: 1,
    fetch: (_url, sent) => {
      count += 1;
      const signal = sent?.signal as AbortSignal;
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        setTimeout(reject, 5_000, new Error('the request has no limit')).unref();
      });
    },
  });
  for (const signal of [undefined, new AbortController().signal]) {
    count = 0;
    await assert.rejects(waiting.listPage({ signal }), (error) => {
      assert.ok(error instanceof PetstoreClientError);
      assert.deepEqual([error.code, error.status, error.requestId], ['no_answer', 0, undefined]);
      assert.equal((error.cause as Error).name, 'TimeoutError');
      return true;
    });
    assert.equal(count, 2);
  }
});

/** The pauses of a client from now on, which are over at once. */
function watchPauses({ mock }: TestContext): readonly number[] {
  const pauses: number[] = [];
  mock.method(globalThis, 'setTimeout', (resume: () => void, ms: number) => {
    pauses.push(ms);
    setImmediate(resume);
  });
  return pauses;
}

test('client › 503 for ever › pauses between its tries for longer and longer, for 5 s at most', async (t) => {
  const pauses = watchPauses(t);
  const patient = new PetstoreClient({
    ...{ baseUrl, apiKey: service.key, retries: 20 },
    fetch: async () => Response.json({ code: 'unavailable', message: 'later' }, { status: 503 }),
  });
  const { signal } = new AbortController();
  await assert.rejects(patient.listPage({ signal }), { code: 'unavailable' });
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  assert.equal(pauses.length, 20);
  for (const [tries, ms] of pauses.entries()) {
    const most = Math.min(200 * 2 ** tries, 5_000);
    assert.ok(ms >= most / 2 && ms <= most, `${ms} ms after try ${tries + 1}`);
  }
});

for (const [status, tries] of [
  ...[400, 401, 403, 404, 410, 413, 415, 422, 431, 500].map((status) => [status, 1] as const),
  ...[408, 429, 502, 503, 504].map((status) => [status, 2] as const),
] as const) {
  test(`client › a create that is answered ${status} › is sent ${tries === 1 ? 'once' : 'again'}, after a Retry-After of 60 s too`, async (t) => {
    const pauses = watchPauses(t);
    let sent = 0;
    const refused = new PetstoreClient({
      ...{ baseUrl, apiKey: service.key, retries: 1 },
      fetch: async () => {
        sent += 1;
        const error = { code: 'unavailable', message: 'later', status };
        return Response.json(error, { status, headers: { 'retry-after': '60' } });
      },
    });
    await assert.rejects(refused.create(REX), { status });
    assert.equal(sent, tries);
    // Clients that were refused together do not come back together.
    assert.ok(pauses.every((ms) => ms >= 60_100 && ms <= 60_200));
  });
}

test('client › its signal while it waits for an answer › throws the reason', async () => {
  const controller = new AbortController();
  const reason = new Error('the user left');
  await using started = await startServer(() => controller.abort(reason));
  await assert.rejects(started.client.listPage({ signal: controller.signal }), reason);
  assert.equal(started.count(), 1);
});

test('client › its signal while it pauses › throws the reason at once', async () => {
  const controller = new AbortController();
  const reason = new Error('the user left');
  await using started = await startServer((_request, response) => {
    response.writeHead(503, { 'retry-after': '59' });
    response.end('{"code":"unavailable","message":"later","status":503}', () => {
      setTimeout(() => controller.abort(reason), 100);
    });
  });
  const listing = within(started.client.listPage({ signal: controller.signal }));
  await assert.rejects(listing, reason);
});
