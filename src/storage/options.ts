/** The options of the store: which database it is, and how long it may take. */

import { count, type OptionValues, option } from '../option.ts';
import { ADDRESS_FORMS, parseAddress } from './address.ts';

/** The message of `parseAddress` does not repeat the address, which may have a password. */
export const DATABASE = {
  value: '<address>',
  mustBe: ADDRESS_FORMS,
  find(text: string): string {
    parseAddress(text);
    return text;
  },
};

const SECONDS = {
  value: '<seconds>',
  mustBe: 'a number of seconds from 0.2 to 60, such as 0.9',
  find(text: string): number | undefined {
    const seconds = /^\d{1,2}(?:\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
    return seconds >= 0.2 && seconds <= 60 ? seconds : undefined;
  },
};

export const STORE_OPTIONS = {
  database: option(DATABASE, `the address of the store: ${ADDRESS_FORMS}`, 'sqlite:petstore.db'),
  databaseConnections: option(count(1, 1_000), 'the most connections to PostgreSQL', 10),
  databaseTimeout: option(
    SECONDS,
    'how long a request waits for a connection to PostgreSQL, and then for each answer',
    0.9,
  ),
  startTimeout: option(
    count(0, 3_600, '<seconds>'),
    'how long the start waits until PostgreSQL answers',
    60,
  ),
};

export type StoreOptions = OptionValues<typeof STORE_OPTIONS>;
