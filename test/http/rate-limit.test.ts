/** The rate limit of each key: what passes, what is answered 429, and the header fields that tell. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TokenBuckets } from '../../src/http/hooks/rate-limit.ts';
import { addKey, startSharedApp } from '../support/app.ts';
import { countPets } from '../support/count-pets.ts';
import { assertError, assertJson, type Sent, send } from '../support/request.ts';
import type { Answer } from '../support/socket.ts';

const PER_SECOND = 2;
const BURST = 3;
const CREATE = { method: 'POST', path: '/v1/pets' };
const POLICY = '"default";q=2;w=1;petstore-burst=3';

/** For this limiter the time stands still. */
const rateLimiter = new TokenBuckets(PER_SECOND, BURST, () => 0);
const service = await startSharedApp({ rateLimiter });
const { port, store } = service;

/** The header of a key that has sent nothing yet. */
async function createKey(): Promise<{ authorization: string }> {
  return { authorization: `Bearer ${await addKey(store, { environment: 'staging' })}` };
}

function assertLimits({ headers }: Answer, left: number): void {
  assert.equal(headers['ratelimit-policy'], POLICY);
  assert.equal(headers.ratelimit, `"default";r=${left};t=1`);
}

function assertLimited(answer: Answer): void {
  assertError(answer, 'rate_limited', /^this key has sent too many requests: .* Retry-After says$/);
  assertLimits(answer, 0);
  assert.equal(answer.headers['retry-after'], '1');
}

// A refusal takes half a second.
describe('rate limit', { concurrency: true }, () => {
  test('rate limit › a burst › passes, and what is above it is 429 for this key alone', async () => {
    const sent = { path: '/v1/pets', headers: await createKey() };
    for (const left of [2, 1, 0]) {
      const answer = await send(port, sent);
      assertJson(answer, 200);
      assertLimits(answer, left);
      assert.equal(answer.headers['retry-after'], undefined);
    }
    for (let count = 0; count < 2; count += 1) assertLimited(await send(port, sent));
    assertLimits(await send(port, { ...sent, headers: await createKey() }), BURST - 1);
  });

  for (const [what, status, sent] of [
    ['a create', 201, { ...CREATE, body: '{"name":"Rex","categoryId":3}' }],
    ['OPTIONS', 204, { method: 'OPTIONS', path: '/v1/pets' }],
    ['an unknown path', 404, { path: '/v1/nothing' }],
    ['a body that is too large', 413, { ...CREATE, body: ' '.repeat(70_000) }],
  ] as const satisfies readonly [string, number, Sent][]) {
    test(`rate limit › ${what}, answered ${status} › counts, and tells what is left`, async () => {
      const headers = await createKey();
      const answer = await send(port, { ...sent, headers });
      assert.equal(answer.status, status);
      assertLimits(answer, BURST - 1);
      const next = await send(port, { path: '/v1/pets', headers });
      assertLimits(next, BURST - 2);
      await send(port, { path: '/v1/pets', headers });
      assert.equal((await send(port, { ...sent, headers })).status, 429);
    });
  }

  test('rate limit › requests without a known key › are not limited, and are told nothing', async () => {
    const unknown = { path: '/v1/pets', headers: { authorization: 'Bearer x' } };
    for (let count = 0; count < BURST + 2; count += 1) {
      for (const sent of [unknown, { path: '/v1/pets' }, { path: '/livez' }, { path: '/docs/' }]) {
        const { status, headers } = await send(port, sent);
        assert.equal(status, sent.path === '/v1/pets' ? 401 : 200);
        assert.equal(headers.ratelimit, undefined);
        assert.equal(headers['ratelimit-policy'], undefined);
      }
    }
  });
});

test('rate limit › creates above it › have added nothing', async () => {
  assert.equal(await countPets(store.pets), 1);
});

test('TokenBuckets › two keys over time › each is told what it may still send', () => {
  let now = 0;
  const buckets = new TokenBuckets(4, 3, () => now);
  // A token takes 250 ms.
  for (const [at, key, ...left] of [
    [0, 1, 2, 1, 0, -1],
    // What is refused does not put off the next one.
    [150, 1, -1],
    [249, 1, -1],
    [250, 1, 0, -1],
    [250, 2, 2],
    // A part of a token is kept, and no more than the burst.
    [875, 1, 1],
    [1_000, 1, 1],
    [9_000, 1, 2, 1],
  ] as const) {
    now = at;
    for (const each of left) assert.equal(buckets.take(key), each, `key ${key} at ${at} ms`);
  }
});
