/** The fair queue: a few requests are at work at a time. The others wait in one line for each key, and the keys take turns. */

import type { HookHandlerDoneFunction as Done, FastifyRequest } from 'fastify';
import { PetstoreError } from '../../error.ts';
import { LIMITS } from '../limits.ts';

/** Made once: the stack of a new one would cost more than the rest of a refusal. */
const TOO_MANY = new PetstoreError('unavailable', 'too many requests of the key wait');
const TOO_LATE = new PetstoreError('unavailable', 'the request waited for too long');

interface Waiting {
  readonly request: FastifyRequest;
  readonly done: Done;
  readonly timer: NodeJS.Timeout;
}

export class FairQueue {
  /** The requests that wait, by the id of their key. The key whose turn is next comes first. */
  readonly #lines = new Map<number, Waiting[]>();
  readonly #atWorkMax: number;
  #atWork = 0;

  constructor(atWorkMax: number) {
    this.#atWorkMax = atWorkMax;
  }

  get waiting(): number {
    return this.#lines.values().reduce((sum, line) => sum + line.length, 0);
  }

  /** Calls `done` when it is the turn of the request. Calls it with an error if too many of its key wait, or if it waits too long. */
  enter(request: FastifyRequest, done: Done): void {
    if (this.#lines.size === 0 && this.#atWork < this.#atWorkMax) {
      this.#start(request, done);
      return;
    }
    const keyId = request.keyId ?? 0;
    const line = this.#lines.get(keyId) ?? [];
    if (line.length >= LIMITS.WAITING_MAX) {
      done(TOO_MANY);
      return;
    }
    // The first one of a line waits longest, so its timer ends first.
    const timer = setTimeout(() => this.#takeFirst(keyId)?.done(TOO_LATE), LIMITS.WAIT_MS_MAX);
    line.push({ request, done, timer });
    this.#lines.set(keyId, line);
  }

  /** To be called when the answer to a request is made. */
  leave(request: FastifyRequest): void {
    request.queue = null;
    this.#atWork -= 1;
    // In a later turn of the event loop: otherwise one turn would answer all that wait, and everything else would wait.
    // If more places are free, a start is already scheduled.
    if (this.#atWork === this.#atWorkMax - 1) setImmediate(() => this.#startNext());
  }

  #start(request: FastifyRequest, done: Done): void {
    this.#atWork += 1;
    request.queue = this;
    done();
  }

  #startNext(): void {
    for (const [keyId, line] of this.#lines) {
      if (this.#atWork >= this.#atWorkMax) return;
      const first = this.#takeFirst(keyId);
      // Behind the lines of the other keys.
      if (this.#lines.delete(keyId)) this.#lines.set(keyId, line);
      // If the client has closed its connection, nobody waits for the answer.
      if (first?.request.socket.destroyed === false) this.#start(first.request, first.done);
    }
  }

  #takeFirst(keyId: number): Waiting | undefined {
    const line = this.#lines.get(keyId);
    const first = line?.shift();
    clearTimeout(first?.timer);
    if (line?.length === 0) this.#lines.delete(keyId);
    return first;
  }
}

/** A queue of reads, which share the connections to PostgreSQL if there are any, and a queue of creates. */
export function createFairQueues(databaseConnections: number | undefined) {
  const reads = new FairQueue(
    databaseConnections === undefined
      ? LIMITS.READS_AT_WORK_MAX
      : LIMITS.READS_OF_CONNECTION_MAX * databaseConnections,
  );
  const creates = new FairQueue(LIMITS.CREATES_AT_WORK_MAX);
  return {
    enter(request: FastifyRequest, _reply: unknown, done: Done): void {
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      (isRead ? reads : creates).enter(request, done);
    },
    countWaiting: () => reads.waiting + creates.waiting,
  };
}
