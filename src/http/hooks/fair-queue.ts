/** The fair queue: a few requests start in a turn, and a few are at work. The others wait in lines that take turns. */

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

/** Requests that are bounded together. A request has its group as its place, from its start to its answer. */
export interface Group {
  readonly name: string;
  readonly atWorkMax: number;
  atWork: number;
}

/** Goes on with a request, or refuses it with the error. */
type Start = (error?: PetstoreError) => void;

interface WaitingRequest {
  readonly request: FastifyRequest;
  readonly group: Group;
  readonly start: Start;
  /** Ends when it has waited for too long. What has no valid key is answered in any case. */
  readonly timer: NodeJS.Timeout | undefined;
}

export class FairQueue {
  readonly #reads: Group;
  readonly #creates: Group = { name: 'creates', atWorkMax: CREATES_AT_WORK_MAX, atWork: 0 };
  /** What has no valid key: pages, the health, refusals. None of it asks the store. */
  readonly #others: Group = { name: 'others', atWorkMax: Number.POSITIVE_INFINITY, atWork: 0 };
  /** By group and key; two lines for what has no valid key. No line is empty. The line whose turn is next comes first. */
  readonly #lines = new Map<string, Set<WaitingRequest>>();
  /** How many requests have started in this turn of the event loop. */
  #started = 0;
  #turn: NodeJS.Immediate | undefined;

  /** @param databaseConnections to PostgreSQL, which reads share; absent on SQLite, which reads at once. */
  constructor(databaseConnections = Number.POSITIVE_INFINITY) {
    const atWorkMax = READS_OF_CONNECTION_MAX * databaseConnections;
    this.#reads = { name: 'reads', atWorkMax, atWork: 0 };
  }

  get waiting(): number {
    return this.#lines.values().reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Calls `start` when the turn of the request comes: with an error if too many of its key wait, or it waits too long.
   * Refused requests also wait here, and ignore this error.
   */
  enter(request: FastifyRequest, start: Start): void {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const ofKey = isRead ? this.#reads : this.#creates;
    const group = request.keyId === null ? this.#others : ofKey;
    if (this.#lines.size === 0 && this.#mayStart(group)) {
      this.#start(request, group, start);
      return;
    }
    // Refusals without a valid key must not hold up `/livez`.
    const ofNoKey = request.refusal === null ? 'pages' : 'refusals';
    const name = `${group.name} ${request.keyId ?? ofNoKey}`;
    const line = this.#lines.get(name) ?? new Set();
    const hasKey = group !== this.#others;
    const refuse = (error: PetstoreError) => this.#start(request, this.#others, start, error);
    // A client that resets its connection leaves its request here.
    if (hasKey && line.size >= HTTP_LIMITS.WAITING_MAX.value) {
      refuse(TOO_MANY);
      return;
    }
    const late = () => {
      this.#remove(name, waiting);
      refuse(TOO_LATE);
    };
    const timer = hasKey ? setTimeout(late, HTTP_LIMITS.WAIT_MS_MAX.value) : undefined;
    const waiting = { request, group, start, timer };
    this.#lines.set(name, line.add(waiting));
    this.#scheduleTurn();
  }

  /** To be called when the answer to a request is made. */
  leave(request: FastifyRequest): void {
    const { place } = request;
    if (place === null) return;
    request.place = null;
    place.atWork -= 1;
    if (this.#lines.size > 0) this.#scheduleTurn();
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
    this.#turn ??= setImmediate(() => this.#startNext());
  }

  #startNext(): void {
    this.#turn = undefined;
    this.#started = 0;
    for (const [name, line] of this.#lines) {
      const waiting = line.values().next().value as WaitingRequest;
      const { request, group, start } = waiting;
      if (!this.#mayStart(group)) continue;
      this.#remove(name, waiting);
      // A line that still waits is put behind the others, where this loop meets it again.
      if (this.#lines.delete(name)) this.#lines.set(name, line);
      // If the client has reset its connection, nobody waits for the answer.
      if (!request.socket.destroyed) this.#start(request, group, start);
    }
  }

  #remove(name: string, waiting: WaitingRequest): void {
    clearTimeout(waiting.timer);
    const line = this.#lines.get(name);
    line?.delete(waiting);
    if (line?.size === 0) this.#lines.delete(name);
  }
}
