/** The fair queue: a few requests start in a turn of the event loop, and a few are at work. The others wait. */

// They wait in a line for each key, and the lines take turns. Requests without a valid key share one line.

import type { FastifyRequest } from 'fastify';
import { PetstoreError } from '../../error.ts';
import { HTTP_LIMITS } from '../limits.ts';

const TOO_MANY = new PetstoreError('unavailable', 'too many requests of the key wait');
const TOO_LATE = new PetstoreError('unavailable', 'the request waited for too long');

/** Requests that start in a turn. Node accepts one connection in a turn: if a turn takes long, new clients wait. */
export const STARTED_MAX = 16;
/** Reads at work for each connection to PostgreSQL. They wait for the network. On SQLite a read ends in its turn. */
export const READS_OF_CONNECTION_MAX = 16;
/** More creates at work would put a create of another key behind them, in a later commit. */
export const CREATES_AT_WORK_MAX = 128;

/** The pause between two looks for requests that waited for too long. */
const LATE_CHECK_MS = 100;

/** Requests that are bounded together. A request has its group as its place, from its start to its answer. */
export interface Group {
  readonly name: string;
  readonly atWorkMax: number;
  atWork: number;
  waiting: number;
}

function createGroup(name: string, atWorkMax: number): Group {
  return { name, atWorkMax, atWork: 0, waiting: 0 };
}

/** Goes on with a request, or refuses it with the error. */
type Start = (error?: PetstoreError) => void;

interface WaitingRequest {
  readonly request: FastifyRequest;
  readonly start: Start;
  readonly since: number;
}

interface Line {
  readonly group: Group;
  readonly waiting: WaitingRequest[];
}

export class FairQueue {
  readonly #reads: Group;
  readonly #creates = createGroup('creates', CREATES_AT_WORK_MAX);
  /** What asks nothing of the store: pages, the health, refusals. */
  readonly #others = createGroup('others', Number.POSITIVE_INFINITY);
  /** By group and key, none of them empty. The line whose turn is next comes first. */
  readonly #lines = new Map<string, Line>();
  /** How many requests have started in this turn of the event loop. */
  #started = 0;
  #turn: NodeJS.Immediate | undefined;
  #check: NodeJS.Timeout | undefined;

  /** @param databaseConnections the connections to PostgreSQL, which reads share; absent on SQLite, which reads at once. */
  constructor(databaseConnections = Number.POSITIVE_INFINITY) {
    this.#reads = createGroup('reads', READS_OF_CONNECTION_MAX * databaseConnections);
  }

  get waiting(): number {
    return this.#reads.waiting + this.#creates.waiting + this.#others.waiting;
  }

  /** Starts a request that asks the store when its turn comes. Refuses it if too many of its key wait, or it waits too long. */
  enter(request: FastifyRequest, start: Start): void {
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

  #enter(request: FastifyRequest, group: Group, start: Start): void {
    if (this.#mayStart(group) && group.waiting === 0) {
      this.#start(request, group, start);
      return;
    }
    const name = `${group.name} ${request.keyId}`;
    const line = this.#lines.get(name) ?? { group, waiting: [] };
    // A client that resets its connection leaves its request here.
    if (line.waiting.length >= HTTP_LIMITS.WAITING_MAX.value && group !== this.#others) {
      this.#start(request, this.#others, start, TOO_MANY);
      return;
    }
    this.#lines.set(name, line);
    line.waiting.push({ request, start, since: performance.now() });
    group.waiting += 1;
    this.#check ??= setTimeout(() => this.#refuseLate(), LATE_CHECK_MS);
  }

  #mayStart({ atWork, atWorkMax }: Group): boolean {
    return this.#started < STARTED_MAX && atWork < atWorkMax;
  }

  #start(request: FastifyRequest, group: Group, start: Start, error?: PetstoreError): void {
    group.atWork += 1;
    this.#started += 1;
    request.place = group;
    this.#scheduleTurn();
    start(error);
  }

  #scheduleTurn(): void {
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined;
      this.#started = 0;
      this.#startNext();
    });
  }

  #startNext(): void {
    for (const [name, line] of this.#lines) {
      const { group } = line;
      if (!this.#mayStart(group)) continue;
      const { request, start } = this.#takeFirst(name, line);
      // A line that still waits is put behind the others, where this loop meets it again.
      if (this.#lines.delete(name)) this.#lines.set(name, line);
      // If the client has reset its connection, nobody waits for the pet.
      const isGone = request.socket.destroyed && group !== this.#others;
      if (!isGone) this.#start(request, group, start);
    }
  }

  /** What asks nothing of the store is answered in any case. */
  #refuseLate(): void {
    const latest = performance.now() - HTTP_LIMITS.WAIT_MS_MAX.value;
    for (const [name, line] of this.#lines) {
      if (line.group === this.#others) continue;
      while ((line.waiting[0]?.since ?? Number.POSITIVE_INFINITY) <= latest) {
        const { request, start } = this.#takeFirst(name, line);
        this.#start(request, this.#others, start, TOO_LATE);
      }
    }
    this.#check =
      this.#lines.size === 0 ? undefined : setTimeout(() => this.#refuseLate(), LATE_CHECK_MS);
  }

  #takeFirst(name: string, { group, waiting }: Line): WaitingRequest {
    const first = waiting.shift() as WaitingRequest;
    group.waiting -= 1;
    if (waiting.length === 0) this.#lines.delete(name);
    return first;
  }
}
