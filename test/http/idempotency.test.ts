/** `Idempotency-Key` of `POST /v1/pets`: what a repeated create does, and which keys are valid. */

import assert from 'node:assert/strict';
import type { OutgoingHttpHeaders } from 'node:http';
import { after, test } from 'node:test';
import { addKey, startTestApp } from '../support/app.ts';
import { assertError, assertJson, send } from '../support/request.ts';
import type { Answer } from '../support/socket.ts';

const service = await startTestApp();
after(() => service[Symbol.asyncDispose]());
const { port, authorization } = service;

const REX = '{"name":"Rex","categoryId":3}';
const HEADER = /^Idempotency-Key must be given once, 1 to 255 visible ASCII characters$/;

let count = 0;

/** A key that was not sent before. */
function nextKey(): string {
  count += 1;
  return `key-${count}`;
}

function post(
  key: string | readonly string[],
  body = REX,
  headers: OutgoingHttpHeaders = {},
): Promise<Answer> {
  return send(port, {
    method: 'POST',
    path: '/v1/pets',
    headers: { ...authorization, 'idempotency-key': [key].flat(), ...headers },
    body,
  });
}

/** Asserts that both are the 201 of one pet, the first as it was added, the other as a replay. */
function assertReplay(answer: Answer, first: Answer): void {
  assert.equal(answer.headers['idempotency-replayed'], 'true');
  assert.equal(first.headers['idempotency-replayed'], undefined);
  assertJson(answer, 201);
  assertJson(first, 201);
  assert.equal(answer.body, first.body);
  assert.equal(answer.headers.location, first.headers.location);
  assert.equal(first.headers.location, `/v1/pets/${JSON.parse(first.body).id}`);
}

test('Idempotency-Key › the same pet again, also written otherwise › has the same answer and adds none', async () => {
  const key = nextKey();
  const first = await post(key);
  assertReplay(await post(key), first);
  assertReplay(await post(key, '{"categoryId":30e-1, "n\\u0061me":"Rex","tag":null}'), first);
  const { id } = JSON.parse(first.body);
  assert.equal(JSON.parse((await post(nextKey())).body).id, id + 1);
});

test('Idempotency-Key › another pet › answers 422 and keeps the first', async () => {
  const key = nextKey();
  const first = await post(key);
  const answer = await post(key, '{"name":"Mia","categoryId":3}');
  assertError(answer, 'idempotency_key_reused', /was sent before with another pet/);
  assert.equal(answer.headers.location, undefined);
  assertReplay(await post(key), first);
});

test('Idempotency-Key › of another API key › is independent', async () => {
  const other = `Bearer ${await addKey(service.store, { environment: 'staging' })}`;
  const key = nextKey();
  const first = await post(key);
  const second = await post(key, '{"name":"Mia","categoryId":3}', { authorization: other });
  assertJson(second, 201);
  assertReplay(await post(key), first);
});

for (const key of ['!', '~', '"8e03978e-40d5"', 'a,b']) {
  test(`Idempotency-Key › ${key} › is taken`, async () => {
    const first = await post(key);
    assertReplay(await post(key), first);
  });
}

for (const fields of [[''], [' \t '], ['a b'], ['a\tb'], ['caf\u00e9'], ['a', 'b'], ['a', 'a']]) {
  test(`Idempotency-Key › of ${JSON.stringify(fields)} › answers 400, names it and adds none`, async () => {
    const { id } = JSON.parse((await post(nextKey())).body);
    assertError(await post(fields), 'bad_request', HEADER);
    assert.equal(JSON.parse((await post(nextKey())).body).id, id + 1);
  });
}

test('Idempotency-Key › on other operations › is not looked at', async () => {
  const headers = { ...authorization, 'idempotency-key': 'a b' };
  assertJson(await send(port, { path: '/v1/pets', headers }), 200);
});
