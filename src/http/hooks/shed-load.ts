/** Load shedding: while answers are late, a key with more than its share of requests at work is refused further ones. */

import type { HookHandlerDoneFunction as Done, FastifyReply, FastifyRequest } from 'fastify';
import { createError, RETRY_AFTER_SECONDS, toErrorBody } from '../errors.ts';
import { LATE_MS, SHARED_AT_WORK_MAX, SHARED_AT_WORK_MIN } from '../limits.ts';
import { refuseLater } from '../protocol/refuse-later.ts';

/** How often it is decided whether answers are late. */
const LOOK_MS = 100;
/** By how much the bound grows at each look; it doubles in 1.5 s. */
const GROWTH = 1.05;
/** The part of that time in which the event loop had work; below it they wait for a database. */
const BUSY_MIN = 0.9;

const OVERLOADED = toErrorBody(createError('unavailable'));

/** The requests of a key that are at work. */
interface KeyShare {
  atWork: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Where it is counted until it is answered; null when it is not. */
    share: KeyShare | null;
  }
}

export interface LoadShedder {
  /** The hook that refuses a request of a key above its share, while answers are late. */
  shed(request: FastifyRequest, reply: FastifyReply, done: Done): void;
  /** To be called when an answer is sent, at that time by `performance.now`. */
  settle(request: FastifyRequest, at: number): void;
  close(): void;
}

/**
 * Answers are late when a GET took more than LATE_MS while the event loop was busy; a create may wait
 * for the disk. The keys with requests at work share a bound equally. It is halved while answers are
 * late, down to SHARED_AT_WORK_MIN, and grows again when none was for as long as Retry-After says, until
 * it bounds nobody.
 */
export function createLoadShedder(): LoadShedder {
  /** Of the keys with requests at work. */
  const shares = new Map<number, KeyShare>();
  let atWorkMax = Number.POSITIVE_INFINITY;
  let halvedAt = 0;
  /** Of the GETs that began under the present bound. */
  let slowestMs = 0;
  let loop = performance.eventLoopUtilization();

  const timer = setInterval(() => {
    const before = loop;
    loop = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(loop, before);
    if (slowestMs > LATE_MS && utilization > BUSY_MIN) {
      atWorkMax = Math.max(Math.min(atWorkMax, SHARED_AT_WORK_MAX) / 2, SHARED_AT_WORK_MIN);
      halvedAt = performance.now();
    } else if (performance.now() - halvedAt > RETRY_AFTER_SECONDS * 1_000) {
      atWorkMax *= GROWTH;
    }
    slowestMs = 0;
  }, LOOK_MS).unref();

  return {
    shed(request, reply, done) {
      const key = request.keyId ?? 0;
      const share = shares.get(key) ?? { atWork: 0 };
      if (share.atWork * shares.size >= atWorkMax) {
        request.refusal = { code: 'unavailable', reason: 'the key has its share at work' };
        reply.code(503).header('retry-after', RETRY_AFTER_SECONDS);
        refuseLater(reply.raw, () => reply.send(OVERLOADED));
        return;
      }
      if (share.atWork === 0) shares.set(key, share);
      share.atWork += 1;
      request.share = share;
      done();
    },
    settle(request, at) {
      const { share, keyId, startedAt } = request;
      const isShed = keyId !== null && share === null;
      if (request.method === 'GET' && !isShed && startedAt > halvedAt) {
        slowestMs = Math.max(slowestMs, at - startedAt);
      }
      if (share === null) return;
      request.share = null;
      share.atWork -= 1;
      if (share.atWork === 0) shares.delete(keyId ?? 0);
    },
    close: () => clearInterval(timer),
  };
}
