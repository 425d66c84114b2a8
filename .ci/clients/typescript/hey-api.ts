/** The scenario with the client of hey-api, whose int64 are bigint, exact with the two settings of `createPetstore`. */

import assert from 'node:assert/strict';
import { createClient } from './generated/hey-api/client/index.js';
import { createPet, getPet, listPets } from './generated/hey-api/sdk.gen.js';
import { zNewPet } from './generated/hey-api/zod.gen.js';
import { findCursor } from './next-page.js';

const { BASE_URL: baseUrl = '', KEY = '' } = process.env;

/** A quote inside a string of JSON has a backslash before it, so these match members alone. */
const NUMBER = /"(id|categoryId)":(-?\d+)/g;
const TEXT = /"(id|categoryId)":"(-?\d+)"/g;

/** By itself the client sends a bigint as a string, and reads a number as a double. */
function createPetstore(auth: string) {
  return createClient({
    baseUrl,
    auth,
    bodySerializer: (body) =>
      JSON.stringify(body, (_, value) => (typeof value === 'bigint' ? `${value}` : value)).replace(
        TEXT,
        '"$1":$2',
      ),
    fetch: async (...request) => {
      const answer = await fetch(...request);
      return new Response((await answer.text()).replace(NUMBER, '"$1":"$2"'), answer);
    },
  });
}

const client = createPetstore(KEY);
const rex = { name: 'Rex', categoryId: 9223372036854775807n, status: 'available' } as const;

const created = await createPet({ client, body: rex });
assert.equal(created.response?.status, 201);
assert.deepEqual(created.data, { id: 251n, ...rex });

const headers = { 'Idempotency-Key': 'order-1' };
const first = await createPet({ client, headers, body: rex });
const second = await createPet({ client, headers, body: rex });
assert.deepEqual(second.data, first.data);
assert.equal(second.response?.headers.get('Idempotency-Replayed'), 'true');
const other = await createPet({ client, headers, body: { ...rex, name: 'Mia' } });
assert.equal(other.response?.status, 422);
assert.equal(other.error?.code, 'idempotency_key_reused');

const got = await getPet({ client, path: { petId: 251n } });
assert.deepEqual(got.data, created.data);
const missing = await getPet({ client, path: { petId: 999n } });
assert.equal(missing.response?.status, 404);
assert.equal(missing.error?.code, 'not_found');

const sold = await listPets({ client, query: { limit: 5, status: 'sold' } });
assert.deepEqual(
  sold.data?.map(({ status }) => status),
  Array(5).fill('sold'),
);

const ids: bigint[] = [];
let cursor: string | undefined;
do {
  const { data, response } = await listPets({ client, query: { limit: 100, cursor } });
  ids.push(...(data ?? []).map(({ id }) => id));
  cursor = findCursor(response?.headers.get('Link'));
} while (cursor !== undefined);
assert.deepEqual(
  ids,
  Array.from({ length: 252 }, (_, index) => BigInt(index + 1)),
);

// Its zod schema refuses a blank name before it is sent; without it the service does.
const body = { ...rex, name: ' ' };
assert.equal(zNewPet.safeParse(body).success, false);
assert.equal((await createPet({ client, body })).response, undefined);
const blank = await createPet({ client, body, requestValidator: undefined });
assert.equal(blank.response?.status, 400);
assert.equal(blank.error?.code, 'bad_request');
assert.match(blank.error?.message ?? '', /^name /);

const stranger = await listPets({ client: createPetstore('wrong') });
assert.equal(stranger.response?.status, 401);
assert.equal(stranger.error?.code, 'unauthorized');
