/** Failures: which error they are, and what is sent again. */

import { equal, fails, open, openAnswered, type Scenarios } from './check.ts';

const REX = { name: 'Rex', categoryId: 3n } as const;

export const FAILURE_SCENARIOS: Scenarios = {
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
};
