/** `serve --rehearse`: a request gets the failure that its `Prefer` names (RFC 7240), to test a client on staging. */

import { setTimeout as wait } from 'node:timers/promises';
import type {
  FastifyReply,
  FastifyRequest,
  onSendHookHandler,
  preValidationHookHandler,
} from 'fastify';
import { ERRORS, type ErrorCode, PetstoreError } from '../../error.ts';
import { SERVED_METHODS } from '../protocol/methods.ts';
import { toRateLimit } from './rate-limit.ts';

/** The most requests that are delayed at a time. */
export const DELAYED_MAX = 100;
/** The most paths that `times` counts: of more, the oldest is forgotten. */
export const COUNTED_MAX = 1_000;

/** By status: the first code that has it. A proxy in front of the service answers with a page of this title. */
const ANSWERS = new Map<string, { readonly code: ErrorCode; readonly title?: string }>([
  ...Object.entries(ERRORS)
    .reverse()
    .map(([code, { status }]) => [String(status), { code: code as ErrorCode }] as const),
  ['502', { code: 'unavailable', title: 'Bad Gateway' }],
  ['504', { code: 'unavailable', title: 'Gateway Timeout' }],
]);

const STATUSES = [...ANSWERS.keys()].sort();

/** The preferences: what each must be. A delay is below IDLE_MS_MAX, and below the usual limit of a proxy. */
const PREFERENCES: ReadonlyMap<string, readonly [form: RegExp, must: string]> = new Map([
  ['status', [new RegExp(`^(?:${STATUSES.join('|')})$`), `be one of ${STATUSES.join(', ')}`]],
  ['lose-answer', [/^$/, 'have no value']],
  ['delay', [/^(?:[12]?\d(?:\.\d{1,3})?|30)$/, 'be a number of seconds from 0 to 30']],
  ['times', [/^[1-9]\d{0,2}$/, 'be a whole number from 1 to 999']],
]);

/** The header fields that depend on the path or the key, not only on the code. */
const OWN_FIELDS: Partial<Record<ErrorCode, Record<string, string>>> = {
  method_not_allowed: { allow: SERVED_METHODS.join(', ') },
  rate_limited: { ratelimit: toRateLimit(0) },
};

/**
 * The value of each preference, without parameters; the first one of a name counts (RFC 7240 section 2).
 *
 * @throws PetstoreError for any other preference: a test that rehearses nothing would pass.
 */
function parsePrefer(prefer: string): ReadonlyMap<string, string> {
  const preferences = new Map<string, string>();
  for (const preference of prefer.split(',')) {
    const [withoutParameters = ''] = preference.split(';');
    const [given = '', quoted = ''] = withoutParameters.split('=');
    const lower = given.trim().toLowerCase();
    // Prism, which many know, says `code`.
    const name = lower === 'code' ? 'status' : lower;
    const value = quoted.replaceAll('"', '').trim();
    if (name === '' || preferences.has(name)) continue;
    const [form, must] = PREFERENCES.get(name) ?? [];
    if (!form?.test(value)) {
      const rule = must
        ? `${name} must ${must}`
        : `it must be ${[...PREFERENCES.keys()].join(', ')}`;
      throw new PetstoreError('bad_request', `Prefer: ${rule}`);
    }
    preferences.set(name, value);
  }
  if (preferences.size === 1 && preferences.has('times')) {
    throw new PetstoreError('bad_request', 'Prefer: times must come with what it counts');
  }
  return preferences;
}

/** Counts for `times`: after so many requests of a key and path, one is answered as ever, and the count begins anew. */
function createCounter() {
  const counts = new Map<string, number>();

  return ({ keyId, method, url }: FastifyRequest, times: number): boolean => {
    const [path] = url.split('?');
    const id = `${keyId} ${method} ${path}`;
    const count = counts.get(id) ?? 0;
    counts.delete(id);
    if (count < times) counts.set(id, count + 1);
    const [oldest = ''] = counts.keys();
    if (counts.size > COUNTED_MAX) counts.delete(oldest);
    return count < times;
  };
}

/** The hook that fails or delays a request. */
export function createRehearse(): preValidationHookHandler {
  let delayed = 0;
  const isWithin = createCounter();

  async function waitFor(delay: string): Promise<void> {
    if (delayed >= DELAYED_MAX) {
      throw new PetstoreError('unavailable', 'too many requests are delayed by Prefer');
    }
    delayed += 1;
    // The wait goes on if the client has gone: a client may repeat a request while the service still works on it.
    await wait(Number(delay) * 1_000, undefined, { ref: false });
    delayed -= 1;
  }

  /** Resolves to whether the request is answered. */
  async function rehearse(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const preferences = parsePrefer(String(request.headers.prefer ?? ''));
    const times = preferences.get('times');
    if (preferences.size === 0 || (times && !isWithin(request, Number(times)))) return false;
    const delay = preferences.get('delay');
    if (delay !== undefined) await waitFor(delay);
    request.losesAnswer = preferences.has('lose-answer');
    // An answer that is lost tells nothing. It comes only when a create is sent again.
    const applied = [...preferences].filter(([name]) => name !== 'lose-answer');
    if (applied.length > 0) {
      reply.header('preference-applied', applied.map((pair) => pair.join('=')).join(', '));
    }
    const status = preferences.get('status') ?? '';
    const answer = ANSWERS.get(status);
    if (answer === undefined) return false;
    const { code, title } = answer;
    request.refusal = { code, reason: 'rehearsed' };
    if (title !== undefined) {
      const page = `<html><body><h1>${status} ${title}</h1></body></html>\n`;
      reply.code(Number(status)).type('text/html').send(page);
      return true;
    }
    reply.headers(OWN_FIELDS[code] ?? {});
    throw new PetstoreError(code);
  }

  // Not async: a request goes on behind an async hook if its client resets before the answer is sent.
  return (request, reply, done) => {
    rehearse(request, reply).then((isAnswered) => {
      if (!isAnswered) done();
    }, done);
  };
}

/** The last `onSend` hook. A replayed answer is sent: a client that repeats the same request, with its `Prefer`, gets the pet. */
export const loseAnswer: onSendHookHandler = (request, reply, _payload, done) => {
  const isLost = request.losesAnswer && !reply.hasHeader('idempotency-replayed');
  if (isLost) request.raw.socket.destroy();
  done();
};
