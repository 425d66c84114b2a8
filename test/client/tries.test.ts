/** How often the client tries, its pauses between tries, and its user agent. Nothing is sent. */

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { type TestContext, test } from 'node:test';
import manifest from '../../client/package.json' with { type: 'json' };
import { PetstoreClient } from '../../client/petstore-client.ts';

/** A client that is always answered with that status, and what it sent. */
function createRefused(status: number, headers: Readonly<Record<string, string>> = {}) {
  const sent: (RequestInit | undefined)[] = [];
  const petstore = new PetstoreClient({
    ...{ baseUrl: 'http://127.0.0.1:8080/v1', apiKey: 'key' },
    async fetch(_url, init) {
      sent.push(init);
      return Response.json({ code: 'unavailable', message: 'later' }, { status, headers });
    },
  });
  return { petstore, sent };
}

test('client › headers of a create › have the version of the package, and what the call replaces', async () => {
  const { petstore, sent } = createRefused(400);
  const type = 'application/json; charset=utf-8';
  const options = { headers: { 'Content-Type': type } };
  await assert.rejects(petstore.create({ name: 'Rex', categoryId: 3 }, options));
  const headers = new Headers(sent[0]?.headers);
  assert.equal(headers.get('user-agent'), `${manifest.name}/${manifest.version}`);
  assert.equal(headers.get('content-type'), type);
});

for (const [cause, code] of [
  ['ECONNREFUSED', 'connection_refused'],
  ['ENOTFOUND', 'unknown_host'],
  ['EAI_AGAIN', 'unknown_host'],
  ['ETIMEDOUT', 'timed_out'],
  ['UND_ERR_CONNECT_TIMEOUT', 'timed_out'],
  ['ECONNRESET', 'no_answer'],
] as const) {
  test(`client › no answer because of ${cause} › has the code ${code}`, async () => {
    const petstore = new PetstoreClient({
      ...{ baseUrl: 'http://127.0.0.1:8080/v1', apiKey: 'key', retries: 0 },
      fetch: () => Promise.reject(new TypeError('fetch failed', { cause: { code: cause } })),
    });
    await assert.rejects(petstore.listPage(), { code, status: 0 });
  });
}

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
  const { petstore } = createRefused(503);
  const { signal } = new AbortController();
  await assert.rejects(petstore.listPage({ signal, retries: 20 }), { code: 'unavailable' });
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  assert.equal(pauses.length, 20);
  for (const [tries, ms] of pauses.entries()) {
    const most = Math.min(200 * 2 ** tries, 5_000);
    assert.ok(ms >= most / 2 && ms <= most, `${ms} ms after try ${tries + 1}`);
  }
});

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
    // Clients that were refused together do not come back together.
    assert.ok(pauses.every((ms) => ms > 60_000 && ms <= 65_000));
  });
}
