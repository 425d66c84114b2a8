/** The kinds of options: the name of a value in the help, and the parser of its text. */

import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { InvalidArgumentError } from 'commander';
import { parseAddress } from '../storage/address.ts';

/** An option. Its flag and its variable are made from its name. */
export interface OptionRow {
  readonly description: string;
  /** Without a default the option may be absent. */
  readonly default?: unknown;
  /** The name of the value. In brackets if the flag may come without a value, which means `true`. */
  readonly value: string;
  readonly choices?: readonly string[];
  /** @throws InvalidArgumentError, or PetstoreError if no message may repeat the value. */
  readonly parse?: (text: string) => unknown;
}

/** A kind of option. `find` returns undefined for a text that is refused. */
const kind = <Value>(value: string, mustBe: string, find: (text: string) => Value | undefined) => ({
  value,
  parse(text: string): Value {
    const found = find(text);
    if (found === undefined) throw new InvalidArgumentError(`It must be ${mustBe}.`);
    return found;
  },
});

export const DATABASE = {
  value: '<address>',
  parse(text: string): string {
    parseAddress(text);
    return text;
  },
};

const inRange = (number: number, min: number, max: number) =>
  number >= min && number <= max ? number : undefined;

export const DATABASE_SECONDS = kind(
  '<seconds>',
  'a number of seconds from 0.2 to 60, such as 0.9',
  (text) => (/^\d{1,2}(?:\.\d{1,3})?$/.test(text) ? inRange(Number(text), 0.2, 60) : undefined),
);

export const HOST = kind('<host>', 'an IP address or the name of a host', (text) =>
  /^[\w.:-]+$/.test(text) ? text : undefined,
);

export const count = (min: number, max: number, value = '<count>') =>
  kind(value, `a whole number from ${min} to ${max}`, (text) =>
    /^\d{1,16}$/.test(text) ? inRange(Number(text), min, max) : undefined,
  );

export const PORT = count(0, 65_535, '<port>');

const PROCESSES = count(1, 256);

export const WORKERS = {
  ...PROCESSES,
  parse: (text: string) => (text === 'auto' ? availableParallelism() : PROCESSES.parse(text)),
};

export const SWITCH = kind('[boolean]', 'true or false', (text) =>
  text === 'true' || text === 'false' ? text === 'true' : undefined,
);

export const BASE_URL = kind(
  '<url>',
  'an http or https address that ends in /v1, such as https://petstore.test/v1',
  (text) => {
    const url = URL.parse(text);
    const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.href === text;
    return isPlain && text.endsWith('/v1') && !/[?#@]/.test(text) ? text : undefined;
  },
);

/** Items that are separated by commas. */
const list = (value: string, mustBe: string, isItem: (item: string) => boolean) =>
  kind<readonly string[]>(value, mustBe, (text) => {
    const items = text.split(',').map((item) => item.trim());
    return items.every(isItem) ? items : undefined;
  });

export const ORIGINS = list(
  '<origins>',
  '* or origins such as https://shop.test, without a path',
  (origin) => origin === '*' || URL.parse(origin)?.origin === origin,
);

export const NETWORKS = list(
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
