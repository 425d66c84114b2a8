/** Options of the client and of a call. */

import type { ClientRequest, ClientResponse } from '../../../client/petstore-client.ts';
import { BUSY, equal, fails, open, openAnswered, type Place, type Scenarios } from './check.ts';

/** The header fields that a call sends. */
async function readFields(
  place: Place,
  options: Readonly<Record<string, unknown>> = {},
  call: Readonly<Record<string, unknown>> = {},
): Promise<Map<string, string>> {
  const petstore = open(place, { baseUrl: place.echoUrl, ...options });
  const fields: [string, string][] = [];
  for await (const { name } of petstore.list(call)) fields.push(name.split(': ', 2) as never);
  return new Map(fields);
}

export const OPTION_SCENARIOS: Scenarios = {
  'client › options that are missing or wrong › are refused at once by name': async (place) => {
    const { baseUrl, apiKey } = place;
    const key = /^apiKey must be a string of ASCII .* without white space$/;
    const url = /^baseUrl must be .* http:.* user, query/;
    for (const [options, message] of [
      [undefined, /^baseUrl is missing: give the address of the API, such as http:/],
      [{ baseUrl: new URL(baseUrl), apiKey }, url],
      [{ baseUrl: 'localhost:8080/v1', apiKey }, url],
      [{ baseUrl: 'http://ann:secret@127.0.0.1/v1', apiKey }, url],
      [{ baseUrl: 'http://127.0.0.1/v1?a=b', apiKey }, url],
      [{ baseUrl, apiKey: '' }, /^apiKey is missing/],
      [{ baseUrl, apiKey: 'secret\n' }, key],
      [{ baseUrl, apiKey: 7 }, key],
      [{ baseUrl, apiKey, integers: 'int' }, /^integers must be one of bigint, number, string$/],
    ] as const) {
      const create = () => new place.client.PetstoreClient(options as never);
      await fails(create, { name: 'TypeError', message });
    }
  },

  'client › numbers that are wrong › are refused by name': async (place) => {
    for (const [name, values] of [
      ['timeoutMs', [-1, 1.5, 2 ** 31, Number.NaN, Number.POSITIVE_INFINITY, '5']],
      ['retries', [-1, Number.NaN, '5']],
    ] as const) {
      const wrong = { name: 'TypeError', message: new RegExp(`^${name} must be a `) };
      for (const value of values) {
        const options = { [name]: value };
        await fails(() => open(place, options).listPage(), wrong);
        await fails(() => open(place).listPage(options as never), wrong);
      }
    }
  },

  'client › a key from a function › is asked for before each call': async (place) => {
    const keys = ['old', place.apiKey, '', 'new\n'];
    const petstore = open(place, { apiKey: async () => keys.shift() });
    await fails(() => petstore.listPage(), { code: 'unauthorized' });
    equal(Array.isArray((await petstore.listPage()).pets), true);
    await fails(() => petstore.listPage(), { name: 'TypeError', message: /^apiKey is missing/ });
    await fails(() => petstore.listPage(), { name: 'TypeError', message: /^apiKey must be/ });
  },

  'client › its requests › name the client, except in a browser, and have the headers of the call':
    async (place) => {
      const isAgent = (text = '') => /^petstore-client\/\d+\.\d+\.\d+$/.test(text);
      const headers = { 'X-Trace': 'seven', Authorization: 'Bearer other' };
      const fields = await readFields(place, {}, { headers });
      equal([fields.get('x-trace'), fields.get('authorization')], ['seven', 'Bearer other']);
      equal(isAgent(fields.get('user-agent')), place.runtime !== 'browser');
    },

  'client › headers that cannot be sent › are refused, and not tried again': async (place) => {
    for (const value of ['line\nend', null, undefined, 7]) {
      const headers = { 'X-Trace': value };
      await fails(() => readFields(place, {}, { headers }), { name: 'TypeError' });
    }
  },

  'create › an idempotencyKey that is no string › is refused by name': async (place) => {
    const message = /^Idempotency-Key must be a string$/;
    for (const idempotencyKey of [null, 7, {}] as never[]) {
      const create = () => open(place).create({ name: 'Rex', categoryId: 3 }, { idempotencyKey });
      await fails(create, { name: 'TypeError', message });
    }
  },

  'client › onRequest and onResponse › see each try, and may add a header': async (place) => {
    const seen: unknown[] = [];
    let count = 0;
    const first = { status: 503, headers: { 'X-Answer': 'first' } };
    const startedAt = performance.now();
    const baseUrl = place.echoUrl.replace('http:', 'HTTP:');
    const options = {
      // Its last slash is not doubled.
      baseUrl: `${baseUrl}/`,
      apiKey: () => `key-${count}`,
      fetch: (...args: Parameters<typeof fetch>) => {
        count += 1;
        return count > 1 ? fetch(...args) : Promise.resolve(new Response(BUSY, first));
      },
      async onRequest({ method, url, headers, tries }: ClientRequest) {
        seen.push([method, url, tries]);
        await Promise.resolve();
        headers.set('X-Tries', String(tries));
      },
      onResponse({ request, status, headers, ms }: ClientResponse) {
        seen.push([request.tries, status, headers.get('x-answer')]);
        equal(ms >= 0 && ms <= performance.now() - startedAt, true);
      },
    };
    const call = { limit: 7, status: undefined, headers: {}, retries: 1, timeoutMs: 2 ** 31 - 1 };
    const fields = await readFields(place, options, call);
    const url = `${baseUrl}/pets?limit=7`;
    equal(seen, [
      ['GET', url, 1],
      [1, 503, 'first'],
      ['GET', url, 2],
      [2, 200, null],
    ]);
    equal([fields.get('x-tries'), fields.get('authorization')], ['2', 'Bearer key-1']);
  },

  'client › retries and timeoutMs of a call › replace those of the client': async (place) => {
    for (const [retries, call, expected] of [
      [2, { retries: 0 }, 1],
      [2, {}, 3],
    ] as const) {
      const busy = async () => new Response(BUSY, { status: 503 });
      const { petstore, count } = openAnswered(place, busy, { retries });
      await fails(() => petstore.listPage(call), { code: 'unavailable', status: 503 });
      await fails(() => petstore.get(7n, call), { code: 'unavailable', status: 503 });
      equal(count(), 2 * expected);
    }
    const signal = AbortSignal.timeout(10_000);
    for (const timeoutMs of [100, 0]) {
      const baseUrl = place.silentUrl;
      const silent = open(place, { baseUrl, timeoutMs: 60_000, retries: 1 });
      const message = new RegExp(
        `^no answer from ${baseUrl}: nothing came within ${timeoutMs} ms$`,
      );
      await fails(() => silent.listPage({ timeoutMs, signal }), { code: 'timed_out', message });
    }
  },
};
