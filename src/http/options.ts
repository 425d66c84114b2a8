/** The options of requests: what they may do, and what their answers name. */

import { isIP } from 'node:net';
import { ENVIRONMENTS } from '../api-key.ts';
import { choice, count, list, type OptionValues, option, SWITCH } from '../option.ts';

const BASE_URL = {
  value: '<url>',
  mustBe: 'an http or https address that ends in /v1, such as https://petstore.test/v1',
  find(text: string): string | undefined {
    const url = URL.parse(text);
    const path = text.replace(/^https?:\/\/[^/?#@]+/i, '');
    // The address is sent without upper case in its host, and without the default port.
    return path === url?.pathname && path.endsWith('/v1') ? url.href : undefined;
  },
};

const ORIGINS = list(
  '<origins>',
  '* or origins such as https://shop.test, without a path',
  (origin) => origin === '*' || URL.parse(origin)?.origin === origin,
);

const NETWORKS = list(
  '<addresses>',
  'IP addresses or networks, such as 127.0.0.1 or 10.0.0.0/8 but not /0, separated by commas',
  isNetwork,
);

function isNetwork(text: string): boolean {
  const [, address = '', bits = '1'] = /^([\da-f:.]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const family = isIP(address);
  const bitsMax = family === 4 ? 32 : 128;
  return family !== 0 && Number(bits) >= 1 && Number(bits) <= bitsMax;
}

export const REQUEST_OPTIONS = {
  maxConnections: option(count(1, 1_000_000), 'the most open connections of each process', 1500),
  environment: option(
    choice(ENVIRONMENTS, '<name>'),
    'the environment whose keys are accepted',
    'staging',
  ),
  baseUrl: option(BASE_URL, 'the address that clients see, ending in /v1; it makes links absolute'),
  corsOrigin: option(
    ORIGINS,
    'the origins whose pages may read answers: *, or origins separated by commas',
    ['*'],
  ),
  rateLimit: option(
    count(1, 1_000_000),
    'the requests of a key in a second, in each process; no limit by default',
  ),
  rateLimitBurst: option(
    count(1, 1_000_000),
    'the requests of a key at once, in each process; by default as many as in a second',
  ),
  trustProxy: option(
    NETWORKS,
    'the proxies whose X-Forwarded-For names the client: addresses or networks such as 10.0.0.0/8, separated by commas',
  ),
  rehearse: option(
    SWITCH,
    'let requests ask for failures, by the header field Prefer, only in staging',
    false,
  ),
  retireGetPet: option(SWITCH, 'answer 410 on the deprecated GET /v1/pets/{petId}', false),
};

export type RequestOptions = OptionValues<typeof REQUEST_OPTIONS>;
