/** Errors as answers: the body, and the handler that sends it. */

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { badRequest, ERRORS, PetstoreError } from '../error.ts';

export function toErrorBody({ code, message }: Pick<PetstoreError, 'code' | 'message'>) {
  return { code, message, status: ERRORS[code].status };
}

export type ErrorBody = ReturnType<typeof toErrorBody>;

/** What a message quotes from a body: the log must not have it. */
const QUOTED = /".*"/s;

/** The reason of the parser follows it. */
export const MALFORMED = 'the request is not well-formed HTTP/1.1';

export const BROKEN_OFF = badRequest('the request broke off');

export function answerError(
  error: FastifyError | PetstoreError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  // The client reset the connection. Nobody reads this answer, but the log has its status.
  const known = error === request.raw.errored ? BROKEN_OFF : error;
  const code = known instanceof PetstoreError ? known.code : 'internal_error';
  // Other messages may name a file or a host: only the log has them.
  const isTold = code !== 'internal_error' && code !== 'unavailable';
  const message = isTold ? known.message : ERRORS[code].message;
  const reason = isTold ? message.replace(QUOTED, '"…"') : known.message;
  // The hook of the key has set the reason of a 401, which its client must not get.
  request.refusal ??= code === 'internal_error' ? { code, err: error } : { code, reason };
  for (const [name, value] of Object.entries(ERRORS[code].headers ?? {})) {
    if (!reply.hasHeader(name)) reply.header(name, value);
  }
  const body = toErrorBody({ code, message });
  reply.code(body.status).send(body);
}
