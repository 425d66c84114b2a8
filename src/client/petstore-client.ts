/** The typed client of the package, `petstore/client`: for Node, browsers, Bun and Deno, without a dependency. */

import type { ErrorCode } from '../error.ts';
import { findInt64 } from '../int64.ts';
import {
  NEW_PET_FIELDS,
  type NewPet,
  type Pet,
  type PetFilters,
  type PetStatus,
  toNewPetJson,
} from '../pet.ts';

export type { ErrorCode, NewPet, Pet, PetStatus };

export interface PetstoreClientOptions {
  /** The address of the API, ending in `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The time for each try in milliseconds, 10,000 unless given. */
  readonly timeoutMs?: number;
  /** How often a request is sent again after the first try, 4 times unless given; 0 for never. */
  readonly retries?: number;
  /** Sends the requests in place of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  /** Ends the call, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
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

export interface PetPage {
  readonly pets: readonly Pet[];
  /** The `cursor` of the next page; absent on the last. */
  readonly next?: string;
}

/** Every failure of a call but its end by the signal. */
export class PetstoreClientError extends Error {
  override readonly name = 'PetstoreClientError';
  /** That of the service; `no_answer` when none came in time, `invalid_answer` when it was no answer of a petstore. */
  readonly code: ErrorCode | 'no_answer' | 'invalid_answer';
  /** The HTTP status; 0 without an answer. */
  readonly status: number;
  /** The `X-Request-Id`, which names the request in the log of the service. */
  readonly requestId: string | undefined;
  /** After how many seconds the service asks to try again. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: PetstoreClientError['code'], message: string, from: Response | ErrorOptions) {
    const response = from instanceof Response ? from : undefined;
    super(message, response === undefined ? (from as ErrorOptions) : undefined);
    this.code = code;
    this.status = response?.status ?? 0;
    this.requestId = response?.headers.get('x-request-id') ?? undefined;
    const seconds = response?.headers.get('retry-after') ?? '';
    this.retryAfterSeconds = /^\d+$/.test(seconds) ? Number(seconds) : undefined;
  }
}

const TIMEOUT_MS = 10_000;
const RETRIES = 4;
/** The first pause without a Retry-After; each further one is twice as long, up to the longest. */
const RETRY_PAUSE_MS = 200;
const RETRY_PAUSE_MS_MAX = 5_000;
/** After a longer Retry-After the call fails, and the caller decides. */
const RETRY_AFTER_SECONDS_MAX = 60;
/** What may be sent again: a GET changes nothing, and a create always has an Idempotency-Key. */
const RETRIED_STATUSES: readonly number[] = [0, 408, 429, 502, 503, 504];

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal | undefined;
}

interface Answer {
  readonly response: Response;
  /** The JSON with each number as its digits, since a double would round an int64. */
  readonly body: unknown;
}

export class PetstoreClient {
  readonly #options: PetstoreClientOptions;

  constructor(options: PetstoreClientOptions) {
    this.#options = { ...options, baseUrl: options.baseUrl.replace(/\/$/, '') };
  }

  /** All pets, or those that the filters keep, by id; the next page is read when it is asked for. */
  async *list(options: ListOptions = {}): AsyncGenerator<Pet, void, undefined> {
    for (let cursor = options.cursor; ; ) {
      const { pets, next } = await this.listPage({ ...options, cursor });
      yield* pets;
      if (next === undefined) return;
      cursor = next;
    }
  }

  async listPage({ signal, ...asked }: ListOptions = {}): Promise<PetPage> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(asked)) {
      if (value !== undefined) query.set(name, String(value));
    }
    const { response, body } = await this.#send('GET', `/pets?${query}`, { signal });
    if (!Array.isArray(body)) throw createInvalid(response);
    const next = findCursor(response.headers.get('link') ?? '');
    const pets = body.map((pet) => toPet(pet, response));
    return next === undefined ? { pets } : { pets, next };
  }

  /**
   * Adds a pet, once, however often it has to be sent. A caller that may repeat the call itself gives
   * the same `idempotencyKey` each time.
   */
  async create(
    newPet: NewPet,
    { signal, idempotencyKey = createIdempotencyKey() }: CreateOptions = {},
  ): Promise<Pet> {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey };
    const sent = { headers, body: toNewPetJson(newPet), signal };
    const { response, body } = await this.#send('POST', '/pets', sent);
    return toPet(body, response);
  }

  /**
   * The pet with that id.
   *
   * @deprecated The service is to remove the operation on 5 December 2030: use {@link list}.
   */
  async get(id: bigint, { signal }: CallOptions = {}): Promise<Pet> {
    const { response, body } = await this.#send('GET', `/pets/${id}`, { signal });
    return toPet(body, response);
  }

  /** Sends a request until it succeeds, or must not be sent again. */
  async #send(method: string, path: string, sent: Sent): Promise<Answer> {
    const { retries = RETRIES } = this.#options;
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.#try(method, path, sent);
      } catch (error) {
        sent.signal?.throwIfAborted();
        const ms = error instanceof PetstoreClientError ? findPauseMs(error, tries) : undefined;
        if (ms === undefined || tries >= retries) throw error;
        await pause(ms, sent.signal);
      }
    }
  }

  async #try(method: string, path: string, { signal, headers, body }: Sent): Promise<Answer> {
    const { baseUrl, apiKey, timeoutMs = TIMEOUT_MS, fetch = globalThis.fetch } = this.#options;
    const late = AbortSignal.timeout(timeoutMs);
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${baseUrl}${path}`, {
        method,
        headers: { Authorization: `Bearer ${apiKey}`, ...headers },
        signal: signal === undefined ? late : AbortSignal.any([signal, late]),
        ...(body !== undefined && { body }),
      });
      text = await response.text();
    } catch (cause) {
      throw new PetstoreClientError('no_answer', `no answer from ${baseUrl}`, { cause });
    }
    const value = findJson(text);
    if (response.ok && value !== undefined) return { response, body: value };
    const { code, message } = Object(value);
    if (typeof code !== 'string' || typeof message !== 'string') throw createInvalid(response);
    throw new PetstoreClientError(code as ErrorCode, message, response);
  }
}

/** How long to wait before another try; undefined when there must be none. */
function findPauseMs(error: PetstoreClientError, tries: number): number | undefined {
  const { status, retryAfterSeconds: seconds } = error;
  if (!RETRIED_STATUSES.includes(status)) return undefined;
  if (seconds !== undefined && seconds > RETRY_AFTER_SECONDS_MAX) return undefined;
  const ms = Math.min(RETRY_PAUSE_MS * 2 ** tries, RETRY_PAUSE_MS_MAX);
  // The random part keeps clients that were refused together from coming back together.
  return (seconds ?? 0) * 1_000 + ms * (0.5 + Math.random() / 2);
}

/** Rejects with the signal's reason as soon as it ends the call. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}

/** A random key. `randomUUID` is missing in browsers on pages without HTTPS. */
export function createIdempotencyKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}

/** The `cursor` of the next page. The rest of its address is not needed: the key is sent to `baseUrl` alone. */
function findCursor(link: string): string | undefined {
  const address = /<([^>]*)>; rel="next"/.exec(link)?.[1] ?? '';
  return new URLSearchParams(address.split('?')[1]).get('cursor') ?? undefined;
}

const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** The value of a JSON text with each number as its digits, in every browser; undefined when it is no JSON. */
function findJson(text: string): unknown {
  try {
    return JSON.parse(
      text.replace(STRING_OR_NUMBER, (token) => (token.startsWith('"') ? token : `"${token}"`)),
    );
  } catch {
    return undefined;
  }
}

function toPet(value: unknown, response: Response): Pet {
  const members = Object(value);
  const pet: Record<string, unknown> = {};
  for (const { name, kind } of [{ name: 'id', kind: 'int64' }, ...NEW_PET_FIELDS]) {
    const member = members[name];
    if (member !== undefined) pet[name] = kind === 'int64' ? findInt64(String(member)) : member;
  }
  if (pet.id === undefined) throw createInvalid(response);
  return pet as unknown as Pet;
}

function createInvalid(response: Response): PetstoreClientError {
  const { status, url } = response;
  return new PetstoreClientError(
    'invalid_answer',
    `${url} gave no answer of a petstore (status ${status})`,
    response,
  );
}
