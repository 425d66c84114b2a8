/** The scenario with the typed client of the package, for every runtime of JavaScript. */

import assert from 'node:assert/strict';
import process from 'node:process';
import { PetstoreClient } from '../../../src/client/petstore-client.ts';

const { BASE_URL: baseUrl = '', KEY = '' } = process.env;
const petstore = new PetstoreClient({ baseUrl, apiKey: KEY });
const rex = { name: 'Rex', categoryId: 9223372036854775807n, status: 'available' } as const;

const created = await petstore.create(rex);
assert.deepEqual(created, { id: 251n, ...rex });

const options = { idempotencyKey: 'order-1' };
const first = await petstore.create(rex, options);
assert.deepEqual(await petstore.create(rex, options), first);
await assert.rejects(petstore.create({ ...rex, name: 'Mia' }, options), {
  status: 422,
  code: 'idempotency_key_reused',
});

assert.deepEqual(await petstore.get(251n), created);
await assert.rejects(petstore.get(999n), { status: 404, code: 'not_found' });

const { pets } = await petstore.listPage({ limit: 5, status: 'sold' });
assert.deepEqual(
  pets.map(({ status }) => status),
  Array(5).fill('sold'),
);

const ids: bigint[] = [];
for await (const { id } of petstore.list({ limit: 100 })) ids.push(id);
assert.deepEqual(
  ids,
  Array.from({ length: 252 }, (_, index) => BigInt(index + 1)),
);

await assert.rejects(petstore.create({ ...rex, name: ' ' }), {
  status: 400,
  code: 'bad_request',
  message: /^name /,
});
const stranger = new PetstoreClient({ baseUrl, apiKey: 'wrong' });
await assert.rejects(stranger.listPage(), { status: 401, code: 'unauthorized' });
