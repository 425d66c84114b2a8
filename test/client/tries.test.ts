/** How often the client tries, its pauses between tries, and its user agent. Nothing is sent. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import manifest from '../../client/package.json' with { type: 'json' };
import { PetstoreClient } from '../../client/petstore-client.ts';

const SERVICE = { baseUrl: 'http://127.0.0.1:8080/v1', apiKey: 'key' };

/** A client that is always answered with that status, and what it sent. */
function createRefused(status: number, headers: Readonly<Record<string, string>> = {}) {
  const sent: (RequestInit | undefined)[] = [];
  const petstore = new PetstoreClient({
    ...SERVICE,
    async fetch(_url, init) {
      sent.push(init);
      return Response.json({ code: 'unavailable', message: 'later' }, { status, headers });
    },
  });
  return { petstore, sent };
}

test('client › a create › has the version of the package, what the call replaces, and 10 s', async (t) => {
  const { mock } = t.mock.method(globalThis, 'setTimeout');
  const { petstore, sent } = createRefused(400);
  const type = 'application/json; charset=utf-8';
  const options = { headers: { 'Content-Type': type } };
  await assert.rejects(petstore.create({ name: 'Rex', categoryId: 3 }, options));
  const headers = new Headers(sent[0]?.headers);
  assert.equal(headers.get('user-agent'), `${manifest.name}/${manifest.version}`);
  assert.equal(headers.get('content-type'), type);
  // A shorter random key would come twice.
  assert.ok((headers.get('idempotency-key') ?? '').length > 20);
  assert.equal(mock.calls.map((call) => call.arguments[1]).join(), '10000');
});

for (const [reason, code, words] of [
  ['EAI_AGAIN', 'unknown_host', 'the host is unknown'],
  ['ETIMEDOUT', 'timed_out', 'the connection timed out'],
  ['UND_ERR_CONNECT_TIMEOUT', 'timed_out', 'the connection timed out'],
  ['ECONNRESET', 'no_answer', 'it broke'],
] as const) {
  test(`client › no answer because of ${reason} › has the code ${code}`, async () => {
    const error = Object.assign(new Error('it broke'), { code: reason });
    // As Node throws it, and as Bun does.
    for (const cause of [new TypeError('fetch failed', { cause: error }), error]) {
      const fetch = () => Promise.reject(cause);
      const petstore = new PetstoreClient({ ...SERVICE, fetch, retries: 0 });
      const message = `no answer from ${SERVICE.baseUrl}: ${words}`;
      const expected = { code, status: 0, message, cause, retryAfterSeconds: undefined };
      await assert.rejects(petstore.listPage(), expected);
    }
  });
}

for (const [what, thrown, words] of [
  ['nothing', undefined, 'fetch failed'],
  ['an error whose cause is null', new Error('it broke', { cause: null }), 'it broke'],
  ['an error whose cause is a text', new Error('it broke', { cause: 'the tunnel' }), 'the tunnel'],
  ['an object without a text', Object.create(null), 'fetch failed'],
] as const) {
  test(`client › a fetch of the caller that throws ${what} › is no answer, which the message tells`, async () => {
    const petstore = new PetstoreClient({
      ...SERVICE,
      fetch: () => Promise.reject(thrown),
      retries: 0,
    });
    const message = `no answer from ${SERVICE.baseUrl}: ${words}`;
    const expected = { name: 'PetstoreClientError', code: 'no_answer', message, cause: thrown };
    await assert.rejects(petstore.listPage(), expected);
  });
}

test('client › a Link to other pages too › has the cursor of the next page', async () => {
  const link = '<https://petstore.test/?cursor=a>; rel="help", </v1/pets?cursor=b%2B>; rel="next"';
  const fetch = async () => new Response('[]', { headers: { link } });
  const petstore = new PetstoreClient({ ...SERVICE, fetch });
  assert.deepEqual(await petstore.listPage(), { pets: [], next: 'b+' });
});

/** The pauses of a client from now on, which are over at once. Its tries are never late. */
function watchPauses({ mock }: TestContext): readonly number[] {
  const pauses: number[] = [];
  mock.method(globalThis, 'setTimeout', (resume: () => void, ms: number) => {
    if (ms === 10_000) return;
    pauses.push(ms);
    setImmediate(resume);
  });
  return pauses;
}

test('client › 503 for ever › pauses between its tries for longer and longer, for 5 s at most', async (t) => {
  const pauses = watchPauses(t);
  const { petstore } = createRefused(503, { 'retry-after': 'soon' });
  const expected = { code: 'unavailable', retryAfterSeconds: undefined };
  await assert.rejects(petstore.listPage({ retries: 20 }), expected);
  assert.equal(pauses.length, 20);
  for (const [tries, ms] of pauses.entries()) {
    const most = Math.min(200 * 2 ** tries, 5_000);
    assert.ok(ms >= most / 2 && ms <= most, `${ms} ms after try ${tries + 1}`);
  }
  // Clients that were refused together do not come back together.
  assert.equal(new Set(pauses).size, 20);
});

for (const [at, seconds] of [
  ['Sat, 01 Jan 2000 00:00:30 GMT', 30],
  ['Fri, 31 Dec 1999 00:00:00 GMT', 0],
] as const) {
  test(`client › a Retry-After that is the date ${at} › waits until then`, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2000, 0, 1) });
    const pauses = watchPauses(t);
    const { petstore } = createRefused(503, { 'retry-after': at });
    await assert.rejects(petstore.listPage({ retries: 1 }), { retryAfterSeconds: seconds });
    assert.deepEqual(
      pauses.map((ms) => Math.floor(ms / 1_000)),
      [seconds],
    );
  });
}

test('client › a Retry-After of 61 s › throws at once, and tells how long it is', async () => {
  const { petstore, sent } = createRefused(503, { 'retry-after': '61', 'x-request-id': 'seven' });
  const expected = { code: 'unavailable', retryAfterSeconds: 61, requestId: 'seven' };
  await assert.rejects(petstore.listPage(), expected);
  assert.equal(sent.length, 1);
});

for (const [status, tries] of [
  ...[400, 401, 403, 404, 410, 413, 415, 422, 431, 500].map((status) => [status, 1] as const),
  ...[408, 429, 502, 503, 504].map((status) => [status, 5] as const),
] as const) {
  test(`client › a create that is answered ${status} › is sent ${tries === 1 ? 'once' : '5 times with one key'}, after a Retry-After of 60 s too`, async (t) => {
    const pauses = watchPauses(t);
    const { petstore, sent } = createRefused(status, { 'retry-after': '60' });
    await assert.rejects(petstore.create({ name: 'Rex', categoryId: 3 }), { status });
    assert.equal(sent.length, tries);
    const keys = sent.map((init) => new Headers(init?.headers).get('idempotency-key'));
    assert.equal(new Set(keys).size, 1);
    assert.ok(pauses.every((ms) => ms > 60_000 && ms <= 65_000));
  });
}
