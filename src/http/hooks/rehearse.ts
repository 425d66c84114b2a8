/** `serve --rehearse`: a request gets the failure that its `Prefer` names (RFC 7240), to test a client on staging. */

import { setTimeout as wait } from 'node:timers/promises';
import type {
  FastifyReply,
  FastifyRequest,
  onSendHookHandler,
  preValidationHookHandler,
} from 'fastify';
import { type ErrorCode, PetstoreError } from '../../error.ts';
import { SERVED_METHODS } from '../protocol/methods.ts';
import { CODES, OF_PROXY, parsePrefer } from './prefer.ts';
import { toRateLimit } from './rate-limit.ts';

/** The most requests that are delayed at a time. */
export const DELAYED_MAX = 100;
/** The most paths that `times` counts: of more, the oldest is forgotten. */
export const COUNTED_MAX = 1_000;

/** The header fields that depend on the path or the key, not only on the code. */
const OWN_FIELDS: Partial<Record<ErrorCode, Record<string, string>>> = {
  method_not_allowed: { allow: SERVED_METHODS.join(', ') },
  rate_limited: { ratelimit: toRateLimit(0) },
};

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
    const status = preferences.get('status');
    if (status === undefined) return false;
    const code = CODES.get(status) ?? 'unavailable';
    request.refusal = { code, reason: 'rehearsed' };
    const title = OF_PROXY.get(status);
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
