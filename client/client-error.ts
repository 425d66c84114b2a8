/** The error of a call, and why no answer came. */

import type { ErrorCode } from './interface.ts';

/** The error codes of the service, and of the client itself. */
export type PetstoreClientErrorCode =
  | ErrorCode
  | 'connection_refused'
  | 'unknown_host'
  | 'timed_out'
  | 'no_answer'
  | 'invalid_answer'
  | 'inexact_integer';

/** Each failure, except a `TypeError`, an error of `apiKey`, `onRequest` or `onResponse`, and the reason of a signal. */
export class PetstoreClientError extends Error {
  override readonly name = 'PetstoreClientError';
  readonly code: PetstoreClientErrorCode;
  /** The HTTP status; 0 if no answer came. */
  readonly status: number;
  /** The `X-Request-Id`, by which the log of the service names the request. */
  readonly requestId: string | undefined;
  /** The seconds to wait before another try, from `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: PetstoreClientErrorCode,
    message: string,
    response?: Response,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.code = code;
    this.status = response?.status ?? 0;
    this.requestId = response?.headers.get('x-request-id') ?? undefined;
    this.retryAfterSeconds = findSeconds(response?.headers.get('retry-after') ?? '');
  }
}

/** The seconds of a Retry-After, which may be an HTTP date (RFC 9110 section 10.2.3). */
function findSeconds(text: string): number | undefined {
  if (/^\d+$/.test(text)) return Number(text);
  const ms = Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, Math.ceil(ms / 1_000));
}

/** The error codes of Node and Bun. Deno and browsers give none. */
const CAUSES: Readonly<Record<string, readonly [PetstoreClientErrorCode, string]>> = {
  ECONNREFUSED: ['connection_refused', 'the connection was refused'],
  ENOTFOUND: ['unknown_host', 'the host is unknown'],
  EAI_AGAIN: ['unknown_host', 'the host is unknown'],
  ETIMEDOUT: ['timed_out', 'the connection timed out'],
  UND_ERR_CONNECT_TIMEOUT: ['timed_out', 'the connection timed out'],
};

/** @param timeoutMs the time for the answer, if the time is over. */
export function createNoAnswer(
  baseUrl: string,
  error: unknown,
  timeoutMs: number | undefined,
): PetstoreClientError {
  // Node wraps the error with the code; Bun does not.
  const cause = Object(error).cause ?? error;
  // A `fetch` of the caller may throw anything.
  const { code: reason, message = 'fetch failed' } =
    typeof cause === 'string' ? { code: '', message: cause } : Object(cause);
  const [code, words] =
    timeoutMs === undefined
      ? (CAUSES[reason] ?? ['no_answer', message])
      : (['timed_out', `nothing came within ${timeoutMs} ms`] as const);
  return new PetstoreClientError(code, `no answer from ${baseUrl}: ${words}`, undefined, {
    cause: error,
  });
}

export function createInvalidAnswer(response: Response): PetstoreClientError {
  const { status, url } = response;
  const advice =
    status >= 500
      ? 'see whether the service runs behind its proxy'
      : 'a proxy may have answered, or the address is wrong';
  const message = `the answer of ${url} is not from a petstore (status ${status}): ${advice}`;
  return new PetstoreClientError('invalid_answer', message, response);
}
