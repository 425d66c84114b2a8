/** Errors as answers: the status and the default message of each error code, and the handler that sends them. */

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, IDEMPOTENCY_KEY_REUSED, PetstoreError } from '../error.ts';
import type { Refusal } from '../log.ts';
import {
  BODY_BYTES_MAX,
  HEADER_BYTES_MAX,
  HEADER_FIELDS_MAX,
  HEADER_SECONDS_MAX,
  REQUEST_SECONDS_MAX,
} from './limits.ts';

export const STATUSES = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  gone: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal_error: 500,
  unavailable: 503,
} as const satisfies Record<ErrorCode, number>;

/** Used where nothing more specific is known, and in the examples of the document. */
export const DEFAULT_MESSAGES: Readonly<Record<ErrorCode, string>> = {
  bad_request: 'the request is not well-formed HTTP/1.1',
  unauthorized: 'a valid API key is required: send it as Authorization: Bearer <API_KEY>',
  forbidden: 'this API key may list and get pets, and not add any',
  not_found: 'there is no pet with this petId',
  method_not_allowed: 'this path does not take this method: Allow lists those that it takes',
  request_timeout: `the request must arrive within ${REQUEST_SECONDS_MAX} s, its headers within ${HEADER_SECONDS_MAX} s`,
  gone: 'this operation was removed: use GET /v1/pets instead',
  payload_too_large: `the body must be at most ${BODY_BYTES_MAX / 1024} KiB`,
  unsupported_media_type:
    'Content-Type must be application/json, in UTF-8 (with curl: -H "Content-Type: application/json")',
  idempotency_key_reused: IDEMPOTENCY_KEY_REUSED,
  rate_limited: 'this key has sent too many requests: try again when Retry-After says',
  headers_too_large: `the request line and headers must be at most ${HEADER_BYTES_MAX / 1024} KiB, in ${HEADER_FIELDS_MAX} fields`,
  internal_error: 'the service failed to answer; the X-Request-Id names this request in its log',
  unavailable:
    'the service cannot answer now: try again when Retry-After says, a POST only with its Idempotency-Key',
};

export const RETRY_AFTER_SECONDS = 1;

/** The interface's Error. */
export interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
}

/** An error of that code with its default message. */
export function createError(code: ErrorCode): PetstoreError {
  return new PetstoreError(code, DEFAULT_MESSAGES[code]);
}

export function toErrorBody({ code, message }: Omit<ErrorBody, 'status'>): ErrorBody {
  return { code, message, status: STATUSES[code] };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** For the log; null while the request is not refused. */
    refusal: Refusal | null;
  }
}

/** What a message quotes of a body. */
const QUOTED = /".*"/s;

/** Fastify's error handler: answers every error. */
export function answerError(
  error: FastifyError | PetstoreError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const expected = findExpected(error, request);
  const { code, message } = expected ?? createError('internal_error');
  // The client does not get the reason of a 503, nor that of a 401, which its hook has set.
  const reason = code === 'unavailable' ? error.message : message.replace(QUOTED, '"…"');
  request.refusal ??= expected === undefined ? { code, err: error } : { code, reason };
  if (code === 'unavailable') reply.header('retry-after', RETRY_AFTER_SECONDS);
  const body = toErrorBody({ code, message });
  reply.code(body.status).send(body);
}

/** The expected error that was thrown, or the one that an error of Fastify or the socket stands for. */
function findExpected(
  error: FastifyError | PetstoreError,
  request: FastifyRequest,
): PetstoreError | undefined {
  if (error instanceof PetstoreError) {
    // The store's own message may name a file or a host, so only the log gets it.
    return error.code === 'unavailable' ? createError('unavailable') : error;
  }
  // The client closed the connection, or the parser refused the rest of the body. Nobody reads this
  // answer, but the log line of the request has its status.
  return error === request.raw.errored
    ? new PetstoreError('bad_request', 'the body broke off')
    : undefined;
}
