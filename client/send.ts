/** Sends a request until it succeeds, or must not be sent again. */

import { orAborted, pause } from './abort.ts';
import {
  createInvalidAnswer,
  createNoAnswer,
  PetstoreClientError,
  type PetstoreClientErrorCode,
} from './client-error.ts';
import {
  type CallOptions,
  checkApiKey,
  checkTimeoutMs,
  type PetstoreClientOptions,
} from './client-options.ts';
import { findJson, type IntegerKind } from './pet-json.ts';

/** The version of package.json. */
const USER_AGENT = 'petstore-client/2.0.0';

const TIMEOUT_MS = 10_000;
const RETRIES = 4;
/** The first pause without a Retry-After. Each next pause is twice as long, up to the longest. */
const RETRY_PAUSE_MS = 200;
const RETRY_PAUSE_MS_MAX = 5_000;
/** With a longer Retry-After the call fails at once, and the caller decides. */
const RETRY_AFTER_SECONDS_MAX = 60;
const RETRIED_STATUSES: readonly number[] = [0, 408, 429, 502, 503, 504];

/** Every call may be sent again: a GET changes nothing, any other one has an Idempotency-Key. */
export type Call = {
  /** With its query. */
  readonly path: string;
  readonly body?: string;
  readonly options: CallOptions;
} & (
  | { readonly method: 'GET'; readonly headers?: never }
  | {
      readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
      readonly headers: Readonly<Record<string, string>> & { readonly 'Idempotency-Key': string };
    }
);

export interface Answer {
  readonly response: Response;
  /** The value of the JSON, with each number as its digits; null for a 204. */
  readonly body: unknown;
}

export async function send(
  client: PetstoreClientOptions<IntegerKind>,
  call: Call,
): Promise<Answer> {
  const { signal, retries = client.retries ?? RETRIES } = call.options;
  // With another value, a call would send without end.
  if (typeof retries !== 'number' || !(retries >= 0)) {
    throw new TypeError('retries must be a number, 0 or more');
  }
  for (let tries = 1; ; tries += 1) {
    try {
      return await orAborted(signal, (ending) => sendOnce(client, call, tries, ending));
    } catch (error) {
      signal?.throwIfAborted();
      const ms = error instanceof PetstoreClientError ? findPauseMs(error, tries) : undefined;
      if (ms === undefined || tries > retries) throw error;
      await pause(ms, signal);
    }
  }
}

async function sendOnce(
  client: PetstoreClientOptions<IntegerKind>,
  { method, path, headers, body, options }: Call,
  tries: number,
  ending: AbortController,
): Promise<Answer> {
  const { baseUrl, fetch = globalThis.fetch, onRequest, onResponse } = client;
  const timeoutMs = checkTimeoutMs(options.timeoutMs ?? client.timeoutMs ?? TIMEOUT_MS);
  const sent = await createHeaders(client, { ...headers, ...options.headers });
  const request = { method, url: `${baseUrl}${path}`, headers: sent, tries };
  await onRequest?.(request);
  const startedAt = performance.now();
  let isLate = false;
  // Not AbortSignal.timeout: its timer would stay after the answer.
  const timer = setTimeout(() => {
    isLate = true;
    // A `fetch` of the caller can tell this end from an end by the caller's signal.
    ending.abort(new DOMException(`nothing came within ${timeoutMs} ms`, 'TimeoutError'));
  }, timeoutMs);
  const { signal } = ending;
  const init = { method, headers: sent, signal, body: body ?? null };
  let response: Response;
  let text: string;
  try {
    // A `fetch` of the caller may not heed the signal.
    [response, text] = await orAborted(signal, async () => {
      const answer = await fetch(request.url, init);
      return [answer, await answer.text()];
    });
  } catch (error) {
    throw createNoAnswer(baseUrl, error, isLate ? timeoutMs : undefined);
  } finally {
    clearTimeout(timer);
  }
  const ms = performance.now() - startedAt;
  await onResponse?.({ request, status: response.status, headers: response.headers, ms });
  return readAnswer(response, text);
}

async function createHeaders(
  { apiKey }: PetstoreClientOptions<IntegerKind>,
  fields: Readonly<Record<string, string>>,
): Promise<Headers> {
  const key = checkApiKey(typeof apiKey === 'function' ? await apiKey() : apiKey);
  const headers = new Headers({ Authorization: `Bearer ${key}` });
  // Browsers have their own, and the answer to their preflight does not allow another one.
  if (!globalThis.navigator?.userAgent?.startsWith('Mozilla/')) {
    headers.set('User-Agent', USER_AGENT);
  }
  for (const [name, value] of Object.entries(fields)) {
    // Headers would make a text of it, such as of `null`.
    if (typeof value !== 'string') throw new TypeError(`${name} must be a string`);
    headers.set(name, value);
  }
  return headers;
}

function readAnswer(response: Response, text: string): Answer {
  const body = response.status === 204 ? null : findJson(text);
  if (response.ok && body !== undefined) return { response, body };
  const { code, message } = Object(body);
  if (typeof code !== 'string' || typeof message !== 'string') throw createInvalidAnswer(response);
  throw new PetstoreClientError(code as PetstoreClientErrorCode, message, response);
}

/** The pause before another try; undefined if there must be none. */
function findPauseMs(error: PetstoreClientError, tries: number): number | undefined {
  const { status, retryAfterSeconds: seconds } = error;
  if (!RETRIED_STATUSES.includes(status)) return undefined;
  if (seconds !== undefined && seconds > RETRY_AFTER_SECONDS_MAX) return undefined;
  const ms = Math.min(RETRY_PAUSE_MS * 2 ** (tries - 1), RETRY_PAUSE_MS_MAX);
  // Without the random part, clients that were refused together would come back together.
  return (seconds ?? 0) * 1_000 + ms * (0.5 + Math.random() / 2);
}
