/** What a read-only key may do: list and get pets, and not add any. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addKey, startTestApp } from '../support/app.ts';
import { assertError, assertJson, send } from '../support/request.ts';

const service = await startTestApp();
after(() => service[Symbol.asyncDispose]());
const { port, key, store } = service;
const readOnly = await addKey(store, { environment: 'staging', isReadOnly: true });

const post = (
  sentKey: string,
  headers: Record<string, string> = {},
  body = '{"name":"Rex","categoryId":1}',
) =>
  send(port, {
    ...{ method: 'POST', path: '/v1/pets', body },
    headers: { authorization: `Bearer ${sentKey}`, ...headers },
  });

test('a read-only key › lists and gets › is answered like any other key', async () => {
  const { id } = JSON.parse((await post(key)).body);
  const get = (path: string, sentKey: string) =>
    send(port, { path, headers: { authorization: `Bearer ${sentKey}` } });
  for (const path of ['/v1/pets', `/v1/pets/${id}`]) {
    const answer = await get(path, readOnly);
    assertJson(answer, 200);
    assert.match(answer.body, /"Rex"/);
    assert.equal(answer.body, (await get(path, key)).body);
  }
});

for (const [what, headers, body] of [
  ['adds a pet', {}, undefined],
  ['adds one with an Idempotency-Key', { 'idempotency-key': 'a' }, undefined],
  ['sends a body that is not JSON', {}, '{'],
  ['sends another media type', { 'content-type': 'text/plain' }, 'Rex'],
] as const) {
  test(`a read-only key › ${what} › answers 403 and adds nothing`, async () => {
    const before = await store.pets.count();
    assertError(
      await post(readOnly, headers, body),
      'forbidden',
      /^this API key is read-only: add pets with another key$/,
    );
    assert.equal(await store.pets.count(), before);
  });
}
