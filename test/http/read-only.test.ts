/** What a read-only key may do: list and get pets, and not add any. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addKey, startTestApp } from '../support/app.ts';
import { countPets } from '../support/count-pets.ts';
import { assertError, assertJson, send } from '../support/request.ts';

const service = await startTestApp();
after(() => service[Symbol.asyncDispose]());
const { port, store } = service;
const readOnly = await addKey(store, { environment: 'staging', isReadOnly: true });
const authorization = `Bearer ${readOnly}`;
const { id } = await store.pets.add({ name: 'Rex', categoryId: 1n });

for (const path of ['/v1/pets', `/v1/pets/${id}`]) {
  test(`a read-only key › gets ${path} › is answered like any other key`, async () => {
    const answer = await send(port, { path, headers: { authorization } });
    assertJson(answer, 200);
    assert.match(answer.body, /"Rex"/);
  });
}

for (const [what, headers, body] of [
  ['adds a pet', {}, '{"name":"Rex","categoryId":1}'],
  ['adds one with an Idempotency-Key', { 'idempotency-key': 'a' }, '{"name":"Rex","categoryId":1}'],
  ['sends a body that is not JSON', {}, '{'],
  ['sends another media type', { 'content-type': 'text/plain' }, 'Rex'],
] as const) {
  test(`a read-only key › ${what} › answers 403 and adds nothing`, async () => {
    const sent = { method: 'POST', path: '/v1/pets', body };
    const answer = await send(port, { ...sent, headers: { authorization, ...headers } });
    assertError(answer, 'forbidden', /^this API key is read-only: add pets with another key$/);
    assert.equal(await countPets(store.pets), 1);
  });
}
