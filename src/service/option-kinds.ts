/** The kinds of options: the name of a value in the help, and the parser of its text. */

import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { PetstoreError } from '../error.ts';
import { parseAddress } from '../storage/address.ts';

/** An option. Its flag and its variable are made from its name. */
export interface OptionRow {
  readonly description: string;
  /** Without a default the option may be absent. */
  readonly default?: unknown;
  /** The name of the value. In brackets if the flag may come without a value, which means `true`. */
  readonly value: string;
  readonly choices?: readonly string[];
  /** @throws PetstoreError `bad_request`; the message lacks the name of the option. */
  readonly parse?: (text: string) => unknown;
  /** Whether the value may hold a password, which no message may repeat. */
  readonly isSecret?: boolean;
}

function refuse(mustBe: string): PetstoreError {
  return new PetstoreError('bad_request', `must be ${mustBe}`);
}

export const DATABASE = {
  value: '<address>',
  isSecret: true,
  parse(text: string): string {
    parseAddress(text);
    return text;
  },
};

export const DATABASE_SECONDS = {
  value: '<seconds>',
  parse(text: string): number {
    const seconds = /^\d{1,2}(?:\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
    if (seconds >= 0.2 && seconds <= 60) return seconds;
    throw refuse('a number of seconds from 0.2 to 60, such as 0.9');
  },
};

export const HOST = {
  value: '<host>',
  parse(text: string): string {
    if (/^[\w.:-]+$/.test(text)) return text;
    throw refuse('an IP address or the name of a host');
  },
};

/** A whole number. */
export const count = (min: number, max: number, value = '<count>') => ({
  value,
  parse: (text: string): number => {
    const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw refuse(`a whole number from ${min} to ${max}`);
  },
});

export const PORT = count(0, 65_535, '<port>');

const PROCESSES = count(1, 256);

export const WORKERS = {
  ...PROCESSES,
  parse: (text: string) => (text === 'auto' ? availableParallelism() : PROCESSES.parse(text)),
};

export const SWITCH = {
  value: '[boolean]',
  parse(text: string): boolean {
    if (text === 'true' || text === 'false') return text === 'true';
    throw refuse('true or false');
  },
};

export const BASE_URL = {
  value: '<url>',
  parse(text: string): string {
    const url = URL.parse(text);
    const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.href === text;
    if (isPlain && text.endsWith('/v1') && !/[?#@]/.test(text)) return text;
    throw refuse('an http or https address that ends in /v1, such as https://petstore.test/v1');
  },
};

const splitList = (text: string) => text.split(',').map((item) => item.trim());

export const ORIGINS = {
  value: '<origins>',
  parse(text: string): readonly string[] {
    const origins = splitList(text);
    const isOrigin = (origin: string) => origin === '*' || URL.parse(origin)?.origin === origin;
    if (origins.every(isOrigin)) return origins;
    throw refuse('* or origins such as https://shop.test, without a path');
  },
};

export const NETWORKS = {
  value: '<addresses>',
  parse(text: string): readonly string[] {
    const networks = splitList(text);
    if (networks.every(isNetwork)) return networks;
    throw refuse(
      'IP addresses or networks, such as 127.0.0.1 or 10.0.0.0/8 but not /0, separated by commas',
    );
  },
};

function isNetwork(text: string): boolean {
  const [, address = '', bits = '1'] = /^([\da-f:.]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const family = isIP(address);
  const bitsMax = family === 4 ? 32 : 128;
  return family !== 0 && Number(bits) >= 1 && Number(bits) <= bitsMax;
}
