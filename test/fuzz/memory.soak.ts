/** The usual requests and refusals, so many that a leak shows: `TEST_SOAK_REQUESTS=10000000 npm run suite soak`. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createCursor } from '../../src/http/cursor.ts';
import { type Sent, send } from '../support/request.ts';
import { assertEndures, startTarget } from './run.ts';

const REQUESTS = Number(process.env.TEST_SOAK_REQUESTS ?? 40_000);

const service = await startTarget();
after(() => service[Symbol.asyncDispose]());
const headers = { authorization: `Bearer ${service.key}` };

const body = '{"name":"Rex","categoryId":3,"status":"sold"}';
const pets = { path: '/v1/pets', headers };
const create = { ...pets, method: 'POST', body };
const list = (query: string) => ({ path: `/v1/pets?${query}`, headers });

type Usual = readonly [sent: Sent, status: number];

const USUAL: readonly Usual[] = [
  ...Array.from({ length: 8 }, (_, at): Usual => [list(`limit=${1 + at * 14}`), 200]),
  ...Array.from(
    { length: 4 },
    (_, at): Usual => [list(`status=sold&cursor=${createCursor(BigInt(at * 50))}`), 200],
  ),
  ...Array.from({ length: 8 }, (): Usual => [{ path: '/v1/pets/1', headers }, 200]),
  [create, 201],
  [{ path: '/v1/pets' }, 401],
  [{ path: '/v1/pets', headers: { authorization: `${headers.authorization}x` } }, 401],
  [list('limit=0'), 400],
  [{ path: '/v1/none', headers }, 404],
  [{ path: '/v1/pets/0', headers }, 404],
  [{ ...pets, method: 'DELETE' }, 405],
  [{ ...create, body: '{"name":1}' }, 400],
  [{ ...create, headers: { ...headers, 'content-type': 'a/b' } }, 415],
];

test(`soak › ${REQUESTS} requests › leave the memory as it was`, async (t) => {
  t.diagnostic(await assertEndures(service, REQUESTS, ask));
});

/** Those, and a create with an Idempotency-Key of its own, which is sent again. */
async function ask(number: number): Promise<number[]> {
  const keyed = { ...create, headers: { ...headers, 'idempotency-key': `${number}` } };
  const statuses: number[] = [];
  for (const [sent, status] of [[keyed, 201] as const, ...USUAL, [keyed, 201] as const]) {
    const answer = await send(service.port, sent);
    // Each request may be answered 503.
    assert.ok([status, 503].includes(answer.status), `${sent.path}: ${answer.status}`);
    statuses.push(answer.status);
  }
  return statuses;
}
