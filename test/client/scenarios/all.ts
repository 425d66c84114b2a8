/** What the client promises on every runtime. */

import { equal, fails, open, openAnswered, type Scenarios } from './check.ts';
import { OPTION_SCENARIOS } from './options.ts';

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);
const EXACT_MAX = 2n ** 53n - 1n;
const REX = { name: 'Rex', categoryId: 3n } as const;

async function readAll<Pet>(pets: AsyncIterable<Pet>): Promise<Pet[]> {
  const all: Pet[] = [];
  for await (const pet of pets) all.push(pet);
  return all;
}

export const SCENARIOS: Scenarios = {
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
      for (const categoryId of [EXACT_MAX + 1n, -EXACT_MAX - 1n]) {
        await fails(() => petstore.create({ name: 'Rex', categoryId }), {
          name: 'PetstoreClientError',
          code: 'inexact_integer',
          status: 201,
          message: new RegExp(`^categoryId ${categoryId} is not exact`),
        });
      }
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

  'client › a refused request › throws the code of the service, and is not sent again': async (
    place,
  ) => {
    const { petstore, count } = openAnswered(place, (_count, ...args) => fetch(...args));
    const stranger = open(place, { apiKey: 'x' });
    const name = 'PetstoreClientError';
    for (const [call, code, status, message] of [
      [() => petstore.create({ ...REX, name: ' ' }), 'bad_request', 400, /^name must/],
      [() => petstore.get(2n ** 63n - 1n), 'not_found', 404, /no pet/],
      [() => petstore.listPage({ limit: 0 }), 'bad_request', 400, /^limit must/],
      [() => stranger.listPage(), 'unauthorized', 401, /API key/],
    ] as const) {
      await fails(call, { name, code, status, message });
    }
    equal(count(), 3);
    const error = await petstore.get(0n).catch((thrown) => thrown);
    equal([error instanceof place.client.PetstoreClientError, error.requestId.length], [true, 36]);
  },

  'create › whose answer is lost after the pet was added › is sent again and adds none': async (
    place,
  ) => {
    const pet = await open(place).create(REX, { headers: { Prefer: 'lose-answer' } });
    equal(pet.replayed, true);
  },

  'client › an answer that breaks off › is asked for again': async (place) => {
    const pull = (body: ReadableStreamDefaultController) => body.error(new TypeError('terminated'));
    const { petstore, count } = openAnswered(place, async (count, ...args) =>
      count === 1 ? new Response(new ReadableStream({ pull })) : fetch(...args),
    );
    await petstore.listPage();
    equal(count(), 2);
  },

  'client › an answer of something else › throws invalid_answer with the status': async (place) => {
    for (const [
      status,
      body,
      message = /\(status [24]\d\d\): a proxy may have answered, or the address is wrong$/,
    ] of [
      [404, '<h1>Not Found</h1>'],
      [
        500,
        '<h1>Bad Gateway</h1>',
        /\(status 500\): see whether the service runs behind its proxy$/,
      ],
      [400, '{"code":"bad_request"}'],
      [403, '{"message":"Forbidden"}'],
      [200, '{}'],
      [200, '[null]'],
      [200, '[{"id":1'],
      [200, `[{"id":${'9'.repeat(99)}}]`],
      // A search for the end of each of these strings would take minutes.
      [200, `["${'\\"'.repeat(1_000_000)}`],
    ] as const) {
      const { petstore, count } = openAnswered(place, async () => new Response(body, { status }));
      await fails(() => petstore.listPage(), { code: 'invalid_answer', status, message });
      equal(count(), 1);
    }
  },

  'client › no answer › names the cause': async (place) => {
    // Deno and browsers do not tell by a code why there is no answer.
    const tells = place.runtime === 'node' || place.runtime === 'bun';
    for (const [baseUrl, code, words] of [
      [place.closedUrl, 'connection_refused', 'the connection was refused$'],
      ['http://petstore.invalid/v1', 'unknown_host', 'the host is unknown$'],
    ] as const) {
      await fails(() => open(place, { baseUrl, retries: 0 }).listPage(), {
        ...{ name: 'PetstoreClientError', status: 0, requestId: undefined },
        code: tells ? code : 'no_answer',
        message: new RegExp(`^no answer from ${baseUrl}: ${tells ? words : '.+'}`),
      });
    }
  },

  'client › its signal while it waits for an answer › throws the reason': async (place) => {
    const silent = { ...place, baseUrl: place.silentUrl };
    const controller = new AbortController();
    const { petstore, count } = openAnswered(silent, (_count, ...args) => {
      setTimeout(() => controller.abort(), 100);
      return fetch(...args);
    });
    await fails(() => petstore.listPage({ signal: controller.signal }), { name: 'AbortError' });
    const options = { signal: AbortSignal.abort(new Error('the user left')) };
    for (const call of [() => petstore.create(REX, options), () => petstore.get(1, options)]) {
      await fails(call, { message: /^the user left$/ });
    }
    equal(count(), 1);
  },

  ...OPTION_SCENARIOS,
};
