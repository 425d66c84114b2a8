/** The fair queue: a few requests start in a turn of the event loop, and a few are at work. The others wait. */

// They wait in a line for each key, and the lines take turns. Requests without a valid key share one line.

import type { FastifyRequest } from 'fastify';
import { PetstoreError } from '../../error.ts';
import { LIMITS } from '../limits.ts';

/** Made once: the stack of a new one would cost more than the rest of a refusal. */
const TOO_MANY = new PetstoreError('unavailable', 'too many requests of the key wait');
const TOO_LATE = new PetstoreError('unavailable', 'the request waited for too long');

/** The pause between two looks for requests that waited for too long. */
const CHECK_MS = 100;

/** Requests that are bounded together. */
class Group {
  readonly name: string;
  readonly atWorkMax: number;
  atWork = 0;
  waiting = 0;

  constructor(name: string, atWorkMax: number) {
    this.name = name;
    this.atWorkMax = atWorkMax;
  }
}

/** What a request has from its start to its answer. */
export type Place = Group;

interface Waiting {
  readonly request: FastifyRequest;
  readonly since: number;
  /** Goes on with the request, or refuses it with the error. */
  readonly start: (error?: PetstoreError) => void;
}

interface Line {
  readonly group: Group;
  readonly waiting: Waiting[];
}

export class FairQueue {
  readonly #reads: Group;
  readonly #creates = new Group('creates', LIMITS.CREATES_AT_WORK_MAX);
  /** What asks nothing of the store: pages, the health, refusals. */
  readonly #others = new Group('others', Number.POSITIVE_INFINITY);
  /** By group and key. The line whose turn is next comes first. */
  readonly #lines = new Map<string, Line>();
  /** How many requests have started in this turn of the event loop. */
  #started = 0;
  #turn: NodeJS.Immediate | undefined;
  #check: NodeJS.Timeout | undefined;

  /** @param databaseConnections the connections to PostgreSQL, which reads share; absent on SQLite, which reads at once. */
  constructor(databaseConnections = Number.POSITIVE_INFINITY) {
    const readsMax = LIMITS.READS_OF_CONNECTION_MAX * databaseConnections;
    this.#reads = new Group('reads', readsMax);
  }

  get waiting(): number {
    return this.#reads.waiting + this.#creates.waiting + this.#others.waiting;
  }

  /** Starts a request that asks the store when its turn comes, or refuses it if too many of its key wait, or it waits too long. */
  enter(request: FastifyRequest, start: (error?: PetstoreError) => void): void {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const ofKey = isRead ? this.#reads : this.#creates;
    this.#enter(request, request.keyId === null ? this.#others : ofKey, start);
  }

  /** Sends the answer to a request that did not enter, a refusal for example, when its turn comes. */
  enterLate(request: FastifyRequest, send: () => void): void {
    this.#enter(request, this.#others, send);
  }

  /** To be called when the answer to a request is made. */
  leave(request: FastifyRequest): void {
    const { place } = request;
    if (place === null) return;
    request.place = null;
    place.atWork -= 1;
    if (place.waiting > 0) this.#scheduleTurn();
  }

  #enter(request: FastifyRequest, group: Group, start: Waiting['start']): void {
    const mayStart = this.#started < LIMITS.STARTED_MAX && group.atWork < group.atWorkMax;
    if (mayStart && group.waiting === 0) {
      this.#start(request, group, start);
      return;
    }
    const name = `${group.name} ${request.keyId}`;
    const line = this.#lines.get(name) ?? { group, waiting: [] };
    if (line.waiting.length >= LIMITS.WAITING_MAX) {
      this.#refuse(request, group, start, TOO_MANY);
      return;
    }
    line.waiting.push({ request, since: performance.now(), start });
    group.waiting += 1;
    this.#lines.set(name, line);
    this.#check ??= setTimeout(() => this.#refuseLate(), CHECK_MS);
  }

  #start(request: FastifyRequest, group: Group, start: Waiting['start'], error?: PetstoreError) {
    group.atWork += 1;
    this.#started += 1;
    request.place = group;
    this.#scheduleTurn();
    start(error);
  }

  /** What asks nothing of the store is answered in any case. */
  #refuse(request: FastifyRequest, group: Group, start: Waiting['start'], error: PetstoreError) {
    this.#start(request, this.#others, start, group === this.#others ? undefined : error);
  }

  #scheduleTurn(): void {
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined;
      this.#started = 0;
      this.#startNext();
    });
  }

  #startNext(): void {
    // A line that still waits is put behind the others, where this loop meets it again.
    for (const [name, line] of this.#lines) {
      const { group } = line;
      if (this.#started >= LIMITS.STARTED_MAX) return;
      if (group.atWork >= group.atWorkMax) continue;
      const { request, start } = this.#takeFirst(name, line);
      if (this.#lines.delete(name)) this.#lines.set(name, line);
      // If the client has reset its connection, nobody waits for the pet.
      const isGone = request.socket.destroyed && group !== this.#others;
      if (!isGone) this.#start(request, group, start);
    }
  }

  #refuseLate(): void {
    const latest = performance.now() - LIMITS.WAIT_MS_MAX;
    for (const [name, line] of this.#lines) {
      while ((line.waiting[0]?.since ?? Number.POSITIVE_INFINITY) <= latest) {
        const { request, start } = this.#takeFirst(name, line);
        this.#refuse(request, line.group, start, TOO_LATE);
      }
    }
    this.#check =
      this.#lines.size === 0 ? undefined : setTimeout(() => this.#refuseLate(), CHECK_MS);
  }

  /** The first one of a line, which is never empty. An empty line is removed. */
  #takeFirst(name: string, { group, waiting }: Line): Waiting {
    const first = waiting.shift() as Waiting;
    group.waiting -= 1;
    if (waiting.length === 0) this.#lines.delete(name);
    return first;
  }
}
