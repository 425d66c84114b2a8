/** Pets: exact integers, every page, one pet for each create. */

import { equal, fails, open, type Scenarios } from './check.ts';

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);
const EXACT_MAX = 2n ** 53n - 1n;
const REX = { name: 'Rex', categoryId: 3n } as const;

async function readAll<Pet>(pets: AsyncIterable<Pet>): Promise<Pet[]> {
  const all: Pet[] = [];
  for await (const pet of pets) all.push(pet);
  return all;
}

export const PET_SCENARIOS: Scenarios = {
  'create › the greatest and the least int64, names like JSON › are answered, got and listed exactly':
    async (place) => {
      const petstore = open(place);
      for (const newPet of [
        { name: 'Rex', categoryId: INT64_MAX, status: 'sold' },
        { name: '12, "34": -5.6e7 \\ 8 \u{1f436}', categoryId: INT64_MIN },
        { name: '{"id":9223372036854775807}', categoryId: 0n, status: 'available' },
      ] as const) {
        const { replayed, ...pet } = await petstore.create(newPet);
        equal(typeof pet.id, 'bigint');
        equal([pet, replayed], [{ id: pet.id, ...newPet }, false]);
        equal(await petstore.get(pet.id), pet);
        equal((await readAll(petstore.list())).at(-1), pet);
      }
    },

  'client › integers: string, number › has integers of the type, and throws if one is not exact':
    async (place) => {
      for (const [integers, categoryId] of [
        ['string', String(INT64_MAX)],
        ['number', Number(EXACT_MAX)],
      ] as const) {
        const petstore = open(place, { integers });
        const { replayed: _, ...pet } = await petstore.create({ name: 'Rex', categoryId });
        equal([typeof pet.id, pet.categoryId], [integers, categoryId]);
        equal(await petstore.get(pet.id), pet);
        equal(place.client.toJson(pet), `{"id":${pet.id},"name":"Rex","categoryId":${categoryId}}`);
      }
      const petstore = open(place, { integers: 'number' });
      await fails(() => petstore.create({ name: 'Rex', categoryId: EXACT_MAX + 1n }), {
        name: 'PetstoreClientError',
        code: 'inexact_integer',
        status: 201,
        message: /^categoryId 9007199254740992 is not exact/,
      });
    },

  'client › integers that are not exact › are refused before they are sent': async (place) => {
    const petstore = open(place);
    const wrong = [1.5, 2 ** 53, Number.NaN, '', '07', '1.0', '7,"status":"sold"', null, {}];
    for (const categoryId of wrong as unknown as number[]) {
      const expected = { name: 'TypeError', message: /^categoryId must be a bigint, a number up/ };
      await fails(() => petstore.create({ ...REX, categoryId }), expected);
      await fails(() => petstore.get(categoryId), { name: 'TypeError', message: /^id must/ });
    }
  },

  'list › more pets than a page of a status › reads every page, only pets of the status': async (
    place,
  ) => {
    const petstore = open(place);
    const added: bigint[] = [];
    for (let index = 0; index < 15; index += 1) {
      const status = index % 5 ? 'sold' : 'pending';
      added.push((await petstore.create({ ...REX, status })).id);
    }
    const all = (await readAll(petstore.list({ limit: 4 }))).map(({ id }) => id);
    equal(all.slice(-15), added);
    const pending = await readAll(petstore.list({ status: 'pending', limit: 1 }));
    equal([...new Set(pending.map(({ status }) => status))], ['pending']);
    const first = await petstore.listPage({ status: 'pending', limit: 1 });
    equal([first.pets, typeof first.next], [pending.slice(0, 1), 'string']);
    const rest = await petstore.listPage({ status: 'pending', limit: 99, cursor: first.next });
    equal(rest, { pets: pending.slice(1) });
    const later = petstore.list({ status: 'pending', limit: 1, cursor: first.next });
    equal([(await later.next()).value, (await later.next()).value], pending.slice(1, 3));
  },

  'create › twice with the same idempotencyKey › adds one pet, and says so': async (place) => {
    const petstore = open(place);
    const options = { idempotencyKey: `once-${Math.random()}` };
    const first = await petstore.create(REX, options);
    equal(first.replayed, false);
    equal(await petstore.create(REX, options), { ...first, replayed: true });
    await fails(() => petstore.create({ ...REX, name: 'Mia' }, options), {
      code: 'idempotency_key_reused',
      status: 422,
    });
  },
};
