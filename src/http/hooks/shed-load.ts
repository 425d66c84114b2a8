/** Load shedding: while answers are late, a key with more than its share of requests at work is refused further ones. */

import type { HookHandlerDoneFunction as Done, FastifyReply, FastifyRequest } from 'fastify';
import { createError, RETRY_AFTER_SECONDS, toErrorBody } from '../errors.ts';
import { LATE_MS, SHARED_AT_WORK, SHED_MS } from '../limits.ts';

/** How often it is decided whether answers are late. */
const LOOK_MS = 100;
/** The part of that time in which the event loop had work; below it they wait for a database. */
const BUSY_MIN = 0.9;

const OVERLOADED = toErrorBody(createError('unavailable'));

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether it is counted as one of its key until it is answered. */
    isAtWork: boolean;
  }
}

export interface LoadShedder {
  /** The hook that refuses a request of a key above its share, while answers are late. */
  shed(request: FastifyRequest, reply: FastifyReply, done: Done): void;
  /** To be called with each answer, and how long it took. */
  settle(request: FastifyRequest, ms: number): void;
  close(): void;
}

/**
 * Answers are late when a GET took more than LATE_MS while the event loop was busy; a create may wait
 * for the disk. From then on, for as long as Retry-After says, SHARED_AT_WORK is shared equally by the
 * keys with requests at work.
 */
export function createLoadShedder(): LoadShedder {
  const atWork = new Map<number, number>();
  let slowestMs = 0;
  let lateUntil = 0;
  let loop = performance.eventLoopUtilization();

  const timer = setInterval(() => {
    const before = loop;
    loop = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(loop, before);
    if (slowestMs > LATE_MS && utilization > BUSY_MIN) {
      lateUntil = performance.now() + RETRY_AFTER_SECONDS * 1_000;
    }
    slowestMs = 0;
  }, LOOK_MS).unref();

  return {
    shed(request, reply, done) {
      const key = request.keyId ?? 0;
      const count = atWork.get(key) ?? 0;
      if (count * atWork.size >= SHARED_AT_WORK && performance.now() < lateUntil) {
        request.refusal = { code: 'unavailable', reason: 'the key has its share at work' };
        reply.code(503).header('retry-after', RETRY_AFTER_SECONDS);
        // At once, it would cost as much as a list, from a client that then sends the next request.
        setTimeout(() => reply.send(OVERLOADED), SHED_MS);
        return;
      }
      atWork.set(key, count + 1);
      request.isAtWork = true;
      done();
    },
    settle(request, ms) {
      const isShed = request.keyId !== null && !request.isAtWork;
      if (request.method === 'GET' && !isShed && ms > slowestMs) slowestMs = ms;
      if (!request.isAtWork) return;
      request.isAtWork = false;
      const key = request.keyId ?? 0;
      const count = atWork.get(key) ?? 1;
      if (count > 1) atWork.set(key, count - 1);
      else atWork.delete(key);
    },
    close: () => clearInterval(timer),
  };
}
