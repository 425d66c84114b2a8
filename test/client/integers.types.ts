/** The types of pets for each kind of integers, and of requests. `npm run check` compiles this file. */

import { type Pet, PetstoreClient } from '../../client/petstore-client.ts';
import type { Call } from '../../client/send.ts';

type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const assertType = <Answer extends true>(_answer?: Answer) => {};

const service = { baseUrl: 'http://127.0.0.1:8080/v1', apiKey: async () => 'key' };
const plain = new PetstoreClient(service);
const numbers = new PetstoreClient({ ...service, integers: 'number' });
const strings = new PetstoreClient({ ...service, integers: 'string' });

const ofPlain = await plain.create({ name: 'Rex', categoryId: 3 });
const ofNumbers = await numbers.get(7);
const ofStrings = await strings.get('7');
assertType<Same<typeof ofPlain.id, bigint>>();
assertType<Same<typeof ofNumbers.categoryId, number>>();
assertType<Same<typeof ofStrings.id, string>>();
assertType<Same<typeof ofStrings, Pet<'string'>>>();
assertType<Same<typeof ofPlain.replayed, boolean>>();
assertType<Same<Pet['status'], 'available' | 'pending' | 'sold' | undefined>>();
for await (const { id } of numbers.list()) assertType<Same<typeof id, number>>();

// @ts-expect-error a number is no bigint
ofNumbers.id satisfies bigint;

const call = { path: '/pets/7', options: {} };
({ ...call, method: 'DELETE', headers: { 'Idempotency-Key': 'a' } }) satisfies Call;
// @ts-expect-error it would be sent again, and may be done twice
({ ...call, method: 'DELETE' }) satisfies Call;
