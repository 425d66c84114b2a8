/** The scenario with openapi-fetch and the types of openapi-typescript. Its int64 are numbers: exact within 2^53. */

import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { paths } from './generated/openapi-typescript.js';
import { findCursor } from './next-page.js';

const { BASE_URL: baseUrl = '', KEY = '' } = process.env;

function createPetstore(key: string) {
  return createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
}

const petstore = createPetstore(KEY);
const rex = { name: 'Rex', categoryId: Number.MAX_SAFE_INTEGER, status: 'available' } as const;

const created = await petstore.POST('/pets', { body: rex });
assert.equal(created.response.status, 201);
assert.deepEqual(created.data, { id: 251, ...rex });

const header = { 'Idempotency-Key': 'order-1' };
const first = await petstore.POST('/pets', { params: { header }, body: rex });
const second = await petstore.POST('/pets', { params: { header }, body: rex });
assert.deepEqual(second.data, first.data);
assert.equal(second.response.headers.get('Idempotency-Replayed'), 'true');
const other = await petstore.POST('/pets', { params: { header }, body: { ...rex, name: 'Mia' } });
assert.equal(other.response.status, 422);
assert.equal(other.error?.code, 'idempotency_key_reused');

const got = await petstore.GET('/pets/{petId}', { params: { path: { petId: 251 } } });
assert.deepEqual(got.data, created.data);
const missing = await petstore.GET('/pets/{petId}', { params: { path: { petId: 999 } } });
assert.equal(missing.response.status, 404);
assert.equal(missing.error?.code, 'not_found');

const sold = await petstore.GET('/pets', { params: { query: { limit: 5, status: 'sold' } } });
assert.deepEqual(
  sold.data?.map(({ status }) => status),
  Array(5).fill('sold'),
);

const ids: number[] = [];
let cursor: string | undefined;
do {
  const { data, response } = await petstore.GET('/pets', {
    params: { query: { limit: 100, cursor } },
  });
  ids.push(...(data ?? []).map(({ id }) => id));
  cursor = findCursor(response.headers.get('Link'));
} while (cursor !== undefined);
assert.deepEqual(
  ids,
  Array.from({ length: 252 }, (_, index) => index + 1),
);

const blank = await petstore.POST('/pets', { body: { ...rex, name: ' ' } });
assert.equal(blank.response.status, 400);
assert.equal(blank.error?.code, 'bad_request');
assert.match(blank.error?.message ?? '', /^name /);

const stranger = await createPetstore('wrong').GET('/pets');
assert.equal(stranger.response.status, 401);
assert.equal(stranger.error?.code, 'unauthorized');
