/** `serve --rehearse`: a request gets the failure that its `Prefer` names (RFC 7240), to test a client on staging. */

import { setTimeout as wait } from 'node:timers/promises';
import type { onSendHookHandler, preValidationAsyncHookHandler } from 'fastify';
import { ERRORS, type ErrorCode, PetstoreError } from '../../error.ts';
import { SERVED_METHODS } from '../protocol/methods.ts';
import { toRateLimit } from './rate-limit.ts';

/** By status: the first code that has it. */
const CODES: ReadonlyMap<string, ErrorCode> = new Map(
  Object.entries(ERRORS)
    .reverse()
    .map(([code, { status }]) => [String(status), code as ErrorCode]),
);

const DELAY = /^\d{1,2}(?:\.\d{1,3})?$/;

/** The most requests that are delayed at a time. */
export const DELAYED_MAX = 100;
/** Below IDLE_MS_MAX, and the usual limit of a proxy. */
const DELAY_SECONDS_MAX = 30;

/** The header fields that depend on the path or the key, not only on the code. */
const OWN_FIELDS: Partial<Record<ErrorCode, Record<string, string>>> = {
  method_not_allowed: { allow: SERVED_METHODS.join(', ') },
  rate_limited: { ratelimit: toRateLimit(0) },
};

/** The value of each preference, without parameters; the first one of a name counts (RFC 7240 section 2). */
function parsePrefer(prefer: string): ReadonlyMap<string, string> {
  const preferences = prefer.split(',').map((preference) => {
    const [withoutParameters = ''] = preference.split(';');
    const [name = '', value = ''] = withoutParameters.split('=');
    return [name.trim().toLowerCase(), value.replaceAll('"', '').trim()] as const;
  });
  return new Map(preferences.reverse());
}

/** The hook that fails or delays a request. */
export function createRehearse(): preValidationAsyncHookHandler {
  let delayed = 0;

  async function waitFor(delay: string): Promise<void> {
    if (!DELAY.test(delay) || Number(delay) > DELAY_SECONDS_MAX) {
      const rule = `delay must be a number of seconds from 0 to ${DELAY_SECONDS_MAX}`;
      throw new PetstoreError('bad_request', `Prefer: ${rule}`);
    }
    if (delayed >= DELAYED_MAX) {
      throw new PetstoreError('unavailable', 'too many requests are delayed by Prefer');
    }
    delayed += 1;
    // The wait goes on if the client has gone: a client may repeat a request while the service still works on it.
    await wait(Number(delay) * 1_000, undefined, { ref: false });
    delayed -= 1;
  }

  return async (request, reply) => {
    const preferences = parsePrefer(String(request.headers.prefer ?? ''));
    const status = preferences.get('status');
    const delay = preferences.get('delay');
    const code = CODES.get(status ?? '');
    if (status !== undefined && code === undefined) {
      const rule = `status must be one of ${[...CODES.keys()].join(', ')}`;
      throw new PetstoreError('bad_request', `Prefer: ${rule}`);
    }
    if (delay !== undefined) await waitFor(delay);
    request.losesAnswer = preferences.get('lose-answer') === '';
    if (code === undefined) return;
    request.refusal = { code, reason: 'rehearsed' };
    reply.headers(OWN_FIELDS[code] ?? {});
    throw new PetstoreError(code);
  };
}

/** The last `onSend` hook. A replayed answer is sent: a client that repeats the same request, with its `Prefer`, gets the pet. */
export const loseAnswer: onSendHookHandler = (request, reply, _payload, done) => {
  const isLost = request.losesAnswer && !reply.hasHeader('idempotency-replayed');
  if (isLost) request.raw.socket.destroy();
  done();
};
