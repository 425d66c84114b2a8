/** Failures as answers: the only place that knows which HTTP status each code has. */

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, PetstoreError } from '../error.ts';
import { MESSAGES, refuse } from './refusals.ts';
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
  idempotency_key_reused: 422,
  headers_too_large: 431,
  internal_error: 500,
  unavailable: 503,
} as const satisfies Record<ErrorCode, number>;

const RETRY_AFTER_SECONDS = 1;

/** The interface's Error for a failure. */
export function toErrorBody({ code, message }: PetstoreError): ErrorBody {
  return { code, message, status: STATUSES[code] };
}

/** A response of the Error shape, with an example for each of these codes; the messages fit it better. */
export function errorResponse(
  description: string,
  codes: readonly ErrorCode[],
  messages: Partial<Record<ErrorCode, string>> = {},
) {
  const examples = codes.map((code) => {
    const error = new PetstoreError(code, messages[code] ?? MESSAGES[code]);
    return [code, { summary: `Status ${STATUSES[code]}`, value: toErrorBody(error) }];
  });
  return {
    description,
    content: {
      'application/json': { schema: ErrorSchema, examples: Object.fromEntries(examples) },
    },
  };
}

/** Answers with the Error of what was thrown; what nobody foresaw is logged with its cause. */
export function answerError(
  error: FastifyError | PetstoreError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const known = findKnown(error, request);
  const failure = { requestId: request.id };
  if (known === undefined) {
    request.server.petstoreLog.error({ ...failure, err: error }, 'request failed');
  } else if (known.code === 'unavailable') {
    request.server.petstoreLog.error({ ...failure, reason: error.message }, 'request failed');
    reply.header('retry-after', RETRY_AFTER_SECONDS);
  }
  const body = toErrorBody(known ?? refuse('internal_error'));
  reply.code(body.status).send(body);
}

/** The foreseen failure that was thrown, or that stands for what was thrown. */
function findKnown(
  error: FastifyError | PetstoreError,
  request: FastifyRequest,
): PetstoreError | undefined {
  if (error instanceof PetstoreError) {
    // What the store says of itself is for the operator: it may name a file or a host.
    return error.code === 'unavailable' ? refuse('unavailable') : error;
  }
  // The client went away, or the parser refused the rest: only the log has this.
  if (error === request.raw.errored) return new PetstoreError('bad_request', 'the body broke off');
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return refuse('payload_too_large');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return refuse('unsupported_media_type');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new PetstoreError('bad_request', 'the body must be as long as Content-Length says');
    default:
      return undefined;
  }
}
