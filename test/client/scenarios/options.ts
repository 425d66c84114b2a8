/** Options of the client and of a call. */

import type { ClientRequest, ClientResponse } from '../../../client/petstore-client.ts';
import { equal, fails, type Place, type Scenarios } from './check.ts';

const BUSY = '{"code":"unavailable","message":"later","status":503}';

/** The header fields that a call sends. */
async function readFields(
  { client, echoUrl, apiKey }: Place,
  options: Readonly<Record<string, unknown>> = {},
  call: Readonly<Record<string, unknown>> = {},
): Promise<Map<string, string>> {
  const petstore = new client.PetstoreClient({ baseUrl: echoUrl, apiKey, ...options });
  const { pets } = await petstore.listPage(call);
  return new Map(pets.map(({ name }) => name.split(': ', 2) as [string, string]));
}

export const OPTION_SCENARIOS: Scenarios = {
  'client › options that are missing or wrong › are refused at once by name': async ({
    client,
    baseUrl,
    apiKey,
  }) => {
    for (const [options, message] of [
      [undefined, /^baseUrl is missing/],
      [{ apiKey }, /^baseUrl is missing: give the address of the API, such as http:/],
      [{ baseUrl: new URL(baseUrl), apiKey }, /^baseUrl must be a string that begins with http:../],
      [{ baseUrl: 'localhost:8080/v1', apiKey }, /^baseUrl must be a string that/],
      [{ baseUrl: 'http://256.0.0.1/v1', apiKey }, /^baseUrl must be an address/],
      [{ baseUrl: 'http://ann:secret@127.0.0.1/v1', apiKey }, /^baseUrl must be .* without user/],
      [{ baseUrl: 'http://127.0.0.1/v1?a=b', apiKey }, /^baseUrl must be .* query/],
      [{ baseUrl }, /^apiKey is missing/],
      [{ baseUrl, apiKey: '' }, /^apiKey is missing/],
      [
        { baseUrl, apiKey: 'secret\n' },
        /^apiKey must be a string of ASCII .* without white space$/,
      ],
      [{ baseUrl, apiKey: 'two words' }, /^apiKey must be a string/],
      [{ baseUrl, apiKey, integers: 'int' }, /^integers must be one of bigint, number, string$/],
    ] as const) {
      const create = () => new client.PetstoreClient(options as never);
      await fails(create, { name: 'TypeError', message });
    }
  },

  'client › numbers that are wrong › are refused by name': async ({
    client,
    closedUrl,
    apiKey,
  }) => {
    for (const [name, values] of [
      ['timeoutMs', [-1, 1.5, 2 ** 31, Number.NaN, Number.POSITIVE_INFINITY, '5']],
      ['retries', [-1, Number.NaN, '5']],
    ] as const) {
      const wrong = { name: 'TypeError', message: new RegExp(`^${name} must be a `) };
      for (const value of values) {
        const options = { [name]: value };
        const petstore = new client.PetstoreClient({ baseUrl: closedUrl, apiKey, ...options });
        await fails(() => petstore.listPage(), wrong);
        const other = new client.PetstoreClient({ baseUrl: closedUrl, apiKey });
        await fails(() => other.listPage(options as never), wrong);
      }
    }
  },

  'client › a key from a function that never ends › is not waited for after the signal': async (
    place,
  ) => {
    const { client, baseUrl } = place;
    const never = () => new Promise<string>(() => {});
    const petstore = new client.PetstoreClient({ baseUrl, apiKey: never });
    for (const ms of [50, 0]) {
      const call = new AbortController();
      // The timer of AbortSignal.timeout would let Node end first.
      setTimeout(() => call.abort(), ms);
      await new Promise((resolve) => setTimeout(resolve, 20));
      await fails(() => petstore.listPage({ signal: call.signal }), { name: 'AbortError' });
    }
  },

  'client › a key from a function › is asked for before each call': async (place) => {
    const { client, baseUrl, apiKey } = place;
    const keys = ['old', apiKey, '', 'new\n'];
    const next = async () => keys.shift() ?? apiKey;
    const petstore = new client.PetstoreClient({ baseUrl, apiKey: next });
    await fails(() => petstore.listPage(), { code: 'unauthorized' });
    equal(Array.isArray((await petstore.listPage()).pets), true);
    await fails(() => petstore.listPage(), { name: 'TypeError', message: /^apiKey is missing/ });
    await fails(() => petstore.listPage(), { name: 'TypeError', message: /^apiKey must be/ });
  },

  'client › its requests › name the client and its version, except in a browser': async (place) => {
    const agent = (await readFields(place)).get('user-agent') ?? '';
    equal(/^petstore-client\/\d+\.\d+\.\d+$/.test(agent), place.runtime !== 'browser');
  },

  'client › headers of a call › are sent, instead of its own ones too': async (place) => {
    const headers = { 'X-Trace': 'seven', Authorization: 'Bearer other' };
    const fields = await readFields(place, {}, { headers });
    equal([fields.get('x-trace'), fields.get('authorization')], ['seven', 'Bearer other']);
  },

  'client › headers that cannot be sent › are refused, and not tried again': async (place) => {
    const headers = { 'X-Trace': 'line\nend' };
    await fails(() => readFields(place, {}, { headers }), { name: 'TypeError' });
  },

  'client › onRequest and onResponse › see each try, and may add a header': async (place) => {
    const seen: unknown[] = [];
    let count = 0;
    const options = {
      // Its last slash is not doubled.
      baseUrl: `${place.echoUrl}/`,
      fetch: (...args: Parameters<typeof fetch>) => {
        count += 1;
        return count > 1 ? fetch(...args) : Promise.resolve(new Response(BUSY, { status: 503 }));
      },
      async onRequest({ method, url, headers, tries }: ClientRequest) {
        seen.push([method, url, tries]);
        headers.set('X-Tries', String(tries));
      },
      onResponse({ request, status, headers, ms }: ClientResponse) {
        seen.push([request.tries, status, headers instanceof Headers, ms >= 0]);
      },
    };
    const fields = await readFields(place, options, { headers: { 'X-Trace': 'seven' } });
    const url = `${place.echoUrl}/pets?`;
    equal(seen, [
      ['GET', url, 1],
      [1, 503, true, true],
      ['GET', url, 2],
      [2, 200, true, true],
    ]);
    equal(fields.get('x-tries'), '2');
  },

  'client › a hook that throws › ends the call': async (place) => {
    const onRequest = () => {
      throw new RangeError('not now');
    };
    await fails(() => readFields(place, { onRequest }), { name: 'RangeError' });
  },

  'client › retries and timeoutMs of a call › replace those of the client': async (place) => {
    const { client, baseUrl, silentUrl, apiKey } = place;
    let count = 0;
    const busy = async () => {
      count += 1;
      return new Response(BUSY, { status: 503 });
    };
    const petstore = new client.PetstoreClient({ baseUrl, apiKey, retries: 2, fetch: busy });
    await fails(() => petstore.listPage({ retries: 0 }), { code: 'unavailable', status: 503 });
    equal(count, 1);
    await fails(() => petstore.listPage(), { code: 'unavailable' });
    equal(count, 4);
    const silent = new client.PetstoreClient({ baseUrl: silentUrl, apiKey });
    await fails(() => silent.listPage({ timeoutMs: 100, retries: 1 }), {
      code: 'timed_out',
      message: /within 100 ms$/,
    });
  },
};
