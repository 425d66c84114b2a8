/** `serve --rehearse`: a request gets the failure that its `Prefer` names (RFC 7240), to test a client on staging. */

import { setTimeout as wait } from 'node:timers/promises';
import type { onSendHookHandler, preHandlerAsyncHookHandler } from 'fastify';
import { ERRORS, type ErrorCode, PetstoreError } from '../../error.ts';
import { LIMITS } from '../limits.ts';
import { SERVED_METHODS } from '../protocol/methods.ts';
import { INVALID_TOKEN } from './authenticate.ts';
import { toRateLimit } from './rate-limit.ts';

const CODES: ReadonlyMap<string, ErrorCode> = new Map(
  Object.entries(ERRORS).map(([code, { status }]) => [String(status), code as ErrorCode]),
);

const DELAY = /^\d{1,2}(?:\.\d{1,3})?$/;

const CLOSE = { connection: 'close' };

/** The header fields of an error that `answerError` does not set. */
const FIELDS: Partial<Record<ErrorCode, Record<string, string | number>>> = {
  unauthorized: { 'www-authenticate': INVALID_TOKEN },
  method_not_allowed: { allow: SERVED_METHODS.join(', ') },
  request_timeout: CLOSE,
  payload_too_large: CLOSE,
  rate_limited: { ratelimit: toRateLimit(0) },
  headers_too_large: CLOSE,
};

/**
 * What a `Prefer` asks for. RFC 7240: other preferences are ignored, and the first one of a name counts.
 *
 * @throws PetstoreError `bad_request` for a value that cannot be rehearsed.
 */
function parsePrefer(prefer: string) {
  const values = new Map<string, string>();
  for (const preference of prefer.split(',')) {
    const [withoutParameters = ''] = preference.split(';');
    const [name = '', ...value] = withoutParameters.split('=').map((part) => part.trim());
    const key = name.toLowerCase();
    if (!values.has(key)) values.set(key, value.join('=').replaceAll('"', ''));
  }
  const status = values.get('status');
  if (status !== undefined && !CODES.has(status)) {
    throw refuse(`status must be one of ${[...CODES.keys()].join(', ')}`);
  }
  const delay = values.get('delay');
  if (delay !== undefined && !(DELAY.test(delay) && Number(delay) <= LIMITS.DELAY_SECONDS_MAX)) {
    throw refuse(`delay must be a number of seconds from 0 to ${LIMITS.DELAY_SECONDS_MAX}`);
  }
  const loses = values.get('lose-answer');
  if (loses) throw refuse('lose-answer must have no value');
  return { status, delay, losesAnswer: loses !== undefined };
}

function refuse(rule: string): PetstoreError {
  return new PetstoreError('bad_request', `Prefer: ${rule}`);
}

/** The hook before the fair queue: a request that is delayed takes no place there. */
export function createRehearse(): preHandlerAsyncHookHandler {
  let delayed = 0;

  return async (request, reply) => {
    const { prefer } = request.headers;
    if (prefer === undefined) return;
    const { status, delay, losesAnswer } = parsePrefer(String(prefer));
    request.losesAnswer = losesAnswer;
    if (delay !== undefined) {
      if (delayed >= LIMITS.DELAYED_MAX) {
        throw new PetstoreError('unavailable', 'too many requests are delayed by Prefer');
      }
      delayed += 1;
      // The wait goes on if the client has gone: a client may repeat a request while the service still works on it.
      await wait(Number(delay) * 1_000, undefined, { ref: false });
      delayed -= 1;
    }
    const applied: string[] = [];
    if (status !== undefined) applied.push(`status=${status}`);
    if (delay !== undefined) applied.push(`delay=${delay}`);
    if (applied.length > 0) reply.header('preference-applied', applied.join(', '));
    const code = CODES.get(status ?? '');
    if (code === undefined) return;
    request.refusal = { code, reason: 'rehearsed' };
    reply.headers(FIELDS[code] ?? {});
    throw new PetstoreError(code);
  };
}

/** The last `onSend` hook. A replayed answer is sent: a client that repeats the same request, with its `Prefer`, gets the pet. */
export const loseAnswer: onSendHookHandler = (request, reply, _payload, done) => {
  const isLost = request.losesAnswer && !reply.hasHeader('idempotency-replayed');
  if (isLost) request.raw.socket.destroy();
  done();
};
