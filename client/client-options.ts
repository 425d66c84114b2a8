/** The options of the client and of its calls, and the checks of what the client is made with. */

import type { PetFilters } from './interface.ts';
import { INTEGER_KINDS, type IntegerKind } from './pet-json.ts';

export interface PetstoreClientOptions<Integers extends IntegerKind = 'bigint'> {
  /** The address of the API, such as `https://petstore.example/v1`. */
  readonly baseUrl: string;
  /** The key, or a function that gives it before each try, for keys that change. */
  readonly apiKey: string | (() => string | Promise<string>);
  /** What ids are made of, `bigint` unless given. With `number`, an id beyond 2^53 is an error. */
  readonly integers?: Integers;
  /** The time for each try in milliseconds, 10,000 unless given. */
  readonly timeoutMs?: number;
  /** How often a request is sent again after the first try, 4 times unless given; 0 for never. */
  readonly retries?: number;
  /** Sends the requests in place of the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Is called before each try, and may change the headers. */
  readonly onRequest?: (request: ClientRequest) => void | Promise<void>;
  /** Is called after each answer, also an answer that refuses the request. */
  readonly onResponse?: (response: ClientResponse) => void | Promise<void>;
}

export interface ClientRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** 1 for the first try. */
  readonly tries: number;
}

export interface ClientResponse {
  readonly request: ClientRequest;
  readonly status: number;
  readonly headers: Headers;
  /** The time from the request to the end of the answer. */
  readonly ms: number;
}

export interface CallOptions {
  /** Ends the call, which then throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** As in the options of the client, for this call. */
  readonly timeoutMs?: number;
  readonly retries?: number;
  /** Header fields to send too, such as `traceparent`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** With the value of a filter, such as `status`, only the pets that have it. */
export interface ListOptions extends CallOptions, PetFilters {
  /** The most pets of a page, from 1 to 100; 20 unless given. */
  readonly limit?: number;
  /** The `next` of the page before the first one that is wanted. */
  readonly cursor?: string | undefined;
}

export interface CreateOptions extends CallOptions {
  /** Names this create; a random one unless given. */
  readonly idempotencyKey?: string;
}

/** The longest time of a timer in Node. */
const TIMEOUT_MS_MAX = 2 ** 32 - 1;

const EXAMPLE = 'such as http://127.0.0.1:8080/v1';

/** @throws TypeError that names the option that is wrong. */
export function checkOptions(options: PetstoreClientOptions<IntegerKind>): void {
  const { baseUrl, apiKey, integers = 'bigint' } = Object(options);
  // Node 18 has no global `crypto`; browsers before 2024 have no `AbortSignal.any`.
  if (globalThis.crypto === undefined || typeof AbortSignal.any !== 'function') {
    throw new Error('petstore-client needs Node 20.3 or newer, or a browser of 2024 or newer');
  }
  if (!baseUrl) throw new TypeError(`baseUrl is missing: give the address of the API, ${EXAMPLE}`);
  if (typeof baseUrl !== 'string') throw new TypeError(`baseUrl must be a string, ${EXAMPLE}`);
  if (!/^https?:\/\/./i.test(baseUrl)) {
    throw new TypeError(`baseUrl must begin with http:// or https://, ${EXAMPLE}`);
  }
  if (!isPlainUrl(baseUrl)) {
    throw new TypeError(`baseUrl must be an address without user, query and fragment, ${EXAMPLE}`);
  }
  if (typeof apiKey !== 'function') checkApiKey(apiKey);
  if (!INTEGER_KINDS.includes(integers)) {
    throw new TypeError(`integers must be one of ${INTEGER_KINDS.join(', ')}`);
  }
}

function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin, pathname, href } = new URL(text);
  return href === `${origin}${pathname}`;
}

/** @throws TypeError for a time that a timer cannot have. */
export function checkTimeoutMs(ms: number): number {
  if (Number.isInteger(ms) && ms >= 0 && ms <= TIMEOUT_MS_MAX) return ms;
  throw new TypeError(`timeoutMs must be a whole number from 0 to ${TIMEOUT_MS_MAX}`);
}

/** @throws TypeError for a count that no number of tries exceeds, such as NaN. */
export function checkRetries(count: number): number {
  if (typeof count === 'number' && count >= 0) return count;
  throw new TypeError('retries must be a number from 0');
}

/** @throws TypeError whose message does not have the key. */
export function checkApiKey(key: unknown): string {
  if (!key) throw new TypeError('apiKey is missing: give a key of the service');
  if (typeof key === 'string' && /^[!-~]+$/.test(key)) return key;
  throw new TypeError('apiKey must be a string of ASCII characters without white space');
}
