/** Failures as answers: the only place that knows which HTTP status each code has. */

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, PetstoreError } from '../error.ts';
import { type ErrorBody, ErrorSchema } from './schemas.ts';

export const STATUSES = {
  bad_request: 400,
  unauthorized: 401,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  gone: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  headers_too_large: 431,
  internal_error: 500,
  unavailable: 503,
} as const satisfies Record<ErrorCode, number>;

const RETRY_AFTER_SECONDS = 1;

/** Fastify's own refusals that a client can cause; any other of its errors is a fault of ours. */
const FASTIFY_ERRORS: Readonly<Record<string, PetstoreError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: new PetstoreError(
    'payload_too_large',
    'the body must be at most 64 KiB',
  ),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: new PetstoreError(
    'bad_request',
    'the body must be as long as Content-Length says',
  ),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: new PetstoreError(
    'unsupported_media_type',
    'Content-Type must be application/json',
  ),
};

/** The client went away, or the parser refused the rest: nobody reads this, but the log has its status. */
const BROKEN_OFF = new PetstoreError('bad_request', 'the body broke off');

const INTERNAL_ERROR = new PetstoreError(
  'internal_error',
  'the service failed to answer; the X-Request-Id names this request in its log',
);

/** What the store says of itself is for the operator's log: it may name a file or a host. */
const UNAVAILABLE = new PetstoreError(
  'unavailable',
  'the service cannot answer now: try again when Retry-After says',
);

/** The interface's Error for a failure. */
export function toErrorBody({ code, message }: PetstoreError): ErrorBody {
  return { code, message, status: STATUSES[code] };
}

const EXAMPLE_MESSAGES: Readonly<Record<ErrorCode, string>> = {
  bad_request: 'limit must be given once, a whole number from 1 to 100',
  unauthorized: 'a valid API key is required: send it as Authorization: Bearer <API_KEY>',
  not_found: 'there is no animal with this petId',
  method_not_allowed: 'this path takes only GET, HEAD, POST, OPTIONS',
  request_timeout: 'the request must arrive within 30 s, its headers within 10 s',
  gone: 'this operation was removed: use GET /v1/pets instead',
  payload_too_large: 'the body must be at most 64 KiB',
  unsupported_media_type: 'Content-Type must be application/json, in UTF-8',
  headers_too_large: 'the request line and headers must be at most 16 KiB',
  internal_error: INTERNAL_ERROR.message,
  unavailable: UNAVAILABLE.message,
};

/** A response of the Error shape, with an example for each of these codes; the messages fit it better. */
export function errorResponse(
  description: string,
  codes: readonly ErrorCode[],
  messages: Partial<Record<ErrorCode, string>> = {},
) {
  const examples = codes.map((code) => {
    const error = new PetstoreError(code, messages[code] ?? EXAMPLE_MESSAGES[code]);
    return [code, { summary: `Status ${STATUSES[code]}`, value: toErrorBody(error) }];
  });
  return {
    description,
    content: {
      'application/json': { schema: ErrorSchema, examples: Object.fromEntries(examples) },
    },
  };
}

/** The expected failure that was thrown, or that stands for what was thrown. */
function findKnown(error: FastifyError | PetstoreError, request: FastifyRequest) {
  if (error instanceof PetstoreError) return error;
  return error === request.raw.errored ? BROKEN_OFF : FASTIFY_ERRORS[error.code];
}

/** Answers with the Error of what was thrown; what nobody foresaw is logged with its cause. */
export function answerError(
  error: FastifyError | PetstoreError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const known = findKnown(error, request);
  const isUnavailable = known?.code === 'unavailable';
  if (known === undefined || isUnavailable) {
    request.server.petstoreLog.error({ requestId: request.id, err: error }, 'request failed');
  }
  if (isUnavailable) reply.header('retry-after', RETRY_AFTER_SECONDS);
  const body = toErrorBody(isUnavailable ? UNAVAILABLE : (known ?? INTERNAL_ERROR));
  reply.code(body.status).send(body);
}
