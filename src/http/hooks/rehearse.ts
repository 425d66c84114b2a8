/** `serve --rehearse`: a request gets the failure that its `Prefer` names (RFC 7240), to test a client on staging. */

import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyRequest, onSendHookHandler, preValidationAsyncHookHandler } from 'fastify';
import { badRequest, ERRORS, type ErrorCode, PetstoreError, unavailable } from '../../error.ts';
import { SERVED_METHODS } from '../protocol/request-line.ts';

export const DELAYED_MAX = 100;
/** The most paths that `times` counts. All are forgotten when there are more. */
export const COUNTED_MAX = 1_000;

/** By status: the first code that has it. */
const CODES: Readonly<Record<string, ErrorCode>> = Object.fromEntries(
  Object.entries(ERRORS)
    .reverse()
    .map(([code, { status }]) => [status, code as ErrorCode]),
);
const STATUSES = Object.keys(CODES);

/** The preferences, and the values of each. A delay is below IDLE_MS_MAX, and below the usual limit of a proxy. */
const PREFERENCES: ReadonlyMap<string, RegExp> = new Map([
  ['status', new RegExp(`^(?:${STATUSES.join('|')})$`)],
  ['lose-answer', /^$/],
  ['delay', /^(?:[12]?\d(?:\.\d{1,3})?|30)$/],
  ['times', /^[1-9]\d{0,2}$/],
]);

/** A test that rehearses nothing would pass: so what is not known, or does nothing, is refused. */
const WRONG = badRequest(
  `Prefer must be status (${STATUSES.join(', ')}), lose-answer, delay (seconds from 0 to 30), or one of these with times (1 to 999)`,
);
const TOO_MANY = unavailable('too many requests are delayed by Prefer');

/** The value of each preference, without parameters; the first one of a name counts (RFC 7240 section 2). */
function parsePrefer(prefer: string): ReadonlyMap<string, string> {
  const preferences = new Map<string, string>();
  for (const preference of prefer.split(',')) {
    const [withoutParameters = ''] = preference.split(';');
    const [given = '', quoted = ''] = withoutParameters.split('=');
    // Prism, which many know, says `code`.
    const lower = given.trim().toLowerCase();
    const name = lower === 'code' ? 'status' : lower;
    const value = quoted.replaceAll('"', '').trim();
    if (name === '' || preferences.has(name)) continue;
    if (PREFERENCES.get(name)?.test(value) !== true) throw WRONG;
    preferences.set(name, value);
  }
  if (preferences.size === 1 && preferences.has('times')) throw WRONG;
  return preferences;
}

/** Counts for `times`: after so many requests of a key, method and path one succeeds, and the count begins anew. */
function createCounter() {
  const counts = new Map<string, number>();

  return ({ keyId, method, url }: FastifyRequest, times: number): boolean => {
    const id = `${keyId} ${method} ${url.split('?')[0]}`;
    const count = counts.get(id) ?? 0;
    if (counts.size >= COUNTED_MAX && !counts.has(id)) counts.clear();
    if (count < times) counts.set(id, count + 1);
    else counts.delete(id);
    return count < times;
  };
}

export function createRehearse(): preValidationAsyncHookHandler {
  let delayed = 0;
  const isWithin = createCounter();

  async function waitFor(delay: string): Promise<void> {
    if (delayed >= DELAYED_MAX) throw TOO_MANY;
    delayed += 1;
    // The wait goes on if the client has gone: a client may repeat a request while the service still works on it.
    await wait(Number(delay) * 1_000, undefined, { ref: false });
    delayed -= 1;
  }

  return async function rehearse(request, reply) {
    const preferences = parsePrefer(String(request.headers.prefer ?? ''));
    const times = preferences.get('times');
    if (preferences.size === 0 || (times && !isWithin(request, Number(times)))) return;
    const delay = preferences.get('delay');
    if (delay !== undefined) await waitFor(delay);
    request.losesAnswer = preferences.has('lose-answer');
    // An answer that is lost tells nothing. It comes only when a create is sent again.
    const applied = [...preferences].filter(([name]) => name !== 'lose-answer');
    if (applied.length > 0) {
      reply.header('preference-applied', applied.map((pair) => pair.join('=')).join(', '));
    }
    const code = CODES[preferences.get('status') ?? ''];
    if (code === undefined) return;
    request.refusal = { code, reason: 'rehearsed' };
    if (code === 'method_not_allowed') reply.header('allow', SERVED_METHODS.join(', '));
    throw new PetstoreError(code);
  };
}

/** A replayed answer is not lost: a client that repeats the same request, with its `Prefer`, gets the pet. */
export const loseAnswer: onSendHookHandler = (request, reply, _payload, done) => {
  const isLost = request.losesAnswer && !reply.hasHeader('idempotency-replayed');
  if (isLost) request.raw.socket.destroy();
  done();
};
