/** Errors as answers: the body, and the handler that sends it. */

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { ERRORS, type ErrorCode, PetstoreError } from '../error.ts';

export const RETRY_AFTER_SECONDS = 1;

/** The interface's Error. */
export interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
}

export function toErrorBody({ code, message }: Omit<ErrorBody, 'status'>): ErrorBody {
  return { code, message, status: ERRORS[code].status };
}

/** What a message quotes from a body: the log must not have it. */
const QUOTED = /".*"/s;

/** Fastify's error handler: answers every error. */
export function answerError(
  error: FastifyError | PetstoreError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const expected = findExpected(error, request);
  const { code, message } = expected ?? new PetstoreError('internal_error');
  // Only the log has the reason of a 503, and of a 401, which its hook has set.
  const reason = code === 'unavailable' ? error.message : message.replace(QUOTED, '"…"');
  request.refusal ??= expected === undefined ? { code, err: error } : { code, reason };
  if (code === 'unavailable') reply.header('retry-after', RETRY_AFTER_SECONDS);
  const body = toErrorBody({ code, message });
  reply.code(body.status).send(body);
}

/** The expected error for what was thrown; undefined if nobody expected it. */
function findExpected(
  error: FastifyError | PetstoreError,
  request: FastifyRequest,
): PetstoreError | undefined {
  if (error instanceof PetstoreError) {
    // The store's own message may name a file or a host, so the client does not get it.
    return error.code === 'unavailable' ? new PetstoreError('unavailable') : error;
  }
  // The client closed the connection, or the parser refused the rest of the body. Nobody reads this
  // answer, but the log has its status.
  return error === request.raw.errored
    ? new PetstoreError('bad_request', 'the body broke off')
    : undefined;
}
