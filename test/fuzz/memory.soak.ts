/** The usual requests and refusals, so many that a leak shows: `TEST_SOAK_REQUESTS=10000000 npm run soak`. */

import { after, test } from 'node:test';
import { createCursor } from '../../src/http/cursor.ts';
import { type Conversation, type Framed, frame } from './requests.ts';
import { assertEndures, startTarget } from './run.ts';

const REQUESTS = Number(process.env.TEST_SOAK_REQUESTS ?? 40_000);

const service = await startTarget();
after(() => service[Symbol.asyncDispose]());
const { key } = service;

const body = Buffer.from('{"name":"Rex","categoryId":3,"status":"sold"}');
const list = (number: number, query: string) =>
  frame('GET', `/v1/pets?${query}`, { id: `list.${number}`, key }, [200]);
const get = (number: number) =>
  frame('GET', `/v1/pets/${number}`, { id: `get.${number}`, key }, [200, 404]);

/** The same on every connection. */
const usual: readonly Framed[] = [
  ...Array.from({ length: 8 }, (_, number) => list(number, `limit=${1 + number * 14}`)),
  ...Array.from({ length: 4 }, (_, number) =>
    list(number + 8, `status=sold&cursor=${createCursor(BigInt(number * 50))}`),
  ),
  ...Array.from({ length: 8 }, (_, number) => get(number * 10)),
  frame('POST', '/v1/pets', { id: 'create', key, body }, [201]),
];
const refused: readonly Framed[] = [
  frame('GET', '/v1/pets', { id: 'no-key' }, [401]),
  frame('GET', '/v1/pets', { id: 'wrong-key', key: `${key}x` }, [401]),
  frame('GET', '/v1/pets?limit=0', { id: 'limit', key }, [400]),
  frame('GET', '/v1/none', { id: 'path', key }, [404]),
  frame('DELETE', '/v1/pets', { id: 'method', key }, [405]),
  frame('POST', '/v1/pets', { id: 'body', key, body: Buffer.from('{"name":1}') }, [400]),
  frame('POST', '/v1/pets', { id: 'type', key, body, fields: 'Content-Type: a/b\r\n' }, [415]),
];

test(`soak › ${REQUESTS} requests › leave the memory as it was`, async (t) => {
  t.diagnostic(await assertEndures(service, REQUESTS, createConversation));
});

/** Those, and a create with an Idempotency-Key of its own, which is sent again. */
function createConversation(number: number): Conversation {
  const fields = `Idempotency-Key: ${number}\r\n`;
  const keyed = frame('POST', '/v1/pets', { id: 'keyed', key, body, fields }, [201]);
  const requests = [...usual, keyed, ...refused, keyed];
  return { requests };
}
