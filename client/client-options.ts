/** The options of the client and of its calls, and their checks. */

import type { ListQuery } from './interface.ts';
import { INTEGER_KINDS, type IntegerKind } from './pet-json.ts';

export interface PetstoreClientOptions<Integers extends IntegerKind = 'bigint'> {
  /** The address of the API, such as `https://petstore.example/v1`. */
  readonly baseUrl: string;
  /** The key, or a function that gives it before each try. */
  readonly apiKey: string | (() => string | Promise<string>);
  /** The type of integers, `bigint` unless given. A `number` beyond 2^53 - 1 is an error. */
  readonly integers?: Integers;
  /** The time for each try in milliseconds, 10,000 unless given. */
  readonly timeoutMs?: number;
  /** How often a request is sent again after the first try: 4 times unless given. */
  readonly retries?: number;
  /** Sends the requests in place of the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Is called before each try, and may change the headers. */
  readonly onRequest?: (request: ClientRequest) => void | Promise<void>;
  /** Is called after each answer, also if it refuses the request. */
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
  /** The milliseconds from the request to the end of the answer. */
  readonly ms: number;
}

export interface CallOptions {
  /** Ends the call, which then throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Replaces `timeoutMs` of the client. */
  readonly timeoutMs?: number;
  /** Replaces `retries` of the client. */
  readonly retries?: number;
  /** More header fields, such as `traceparent`. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ListOptions extends CallOptions, ListQuery {
  /** The `next` of the page before; the first page without it. */
  readonly cursor?: string | undefined;
}

export interface CreateOptions extends CallOptions {
  /** Creates with the same key add one pet. A random key unless given. */
  readonly idempotencyKey?: string;
}

/** The text of an API key. */
export const API_KEY = /^[!-~]+$/;

/** After a longer time, a timer of Node ends at once. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

const EXAMPLE = 'such as http://127.0.0.1:8080/v1';

/** @throws TypeError that names the option that is wrong. */
export function checkOptions(options: PetstoreClientOptions<IntegerKind>): void {
  const { baseUrl, apiKey, integers = 'bigint' } = Object(options);
  // Node 18 has none.
  if (globalThis.crypto === undefined) throw new Error('petstore-client needs Node 20.3 or newer');
  if (!baseUrl) throw new TypeError(`baseUrl is missing: give the address of the API, ${EXAMPLE}`);
  if (!isPlainUrl(baseUrl)) {
    const rule = 'a string with http:// or https://, without user, query and fragment';
    throw new TypeError(`baseUrl must be ${rule}, ${EXAMPLE}`);
  }
  if (typeof apiKey !== 'function') checkApiKey(apiKey);
  if (!INTEGER_KINDS.includes(integers)) {
    throw new TypeError(`integers must be one of ${INTEGER_KINDS.join(', ')}`);
  }
}

function isPlainUrl(text: unknown): boolean {
  if (typeof text !== 'string' || !URL.canParse(text)) return false;
  const { protocol, origin, pathname, href } = new URL(text);
  return /^https?:$/.test(protocol) && href === `${origin}${pathname}`;
}

/** @throws TypeError for a time that a timer cannot have. */
export function checkTimeoutMs(ms: number): number {
  if (Number.isInteger(ms) && ms >= 0 && ms <= TIMEOUT_MS_MAX) return ms;
  throw new TypeError(`timeoutMs must be a whole number from 0 to ${TIMEOUT_MS_MAX}`);
}

/** @throws TypeError without the key in its message. */
export function checkApiKey(key: unknown): string {
  if (!key) throw new TypeError('apiKey is missing: give an API key of the service');
  if (typeof key === 'string' && API_KEY.test(key)) return key;
  throw new TypeError('apiKey must be a string of ASCII characters without white space');
}
