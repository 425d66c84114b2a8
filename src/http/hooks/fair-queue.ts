/** The fair queue: a few requests start in a turn, and a few are at work. The others wait in lines that take turns. */

import type { FastifyRequest } from 'fastify';
import { type PetstoreError, unavailable } from '../../error.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { LAST_RESPONSE } from '../protocol/one-request.ts';

const TOO_LATE = unavailable('the request waited for too long');

/** Requests that start in a turn. Node accepts one connection in a turn: if a turn takes long, new clients wait. */
export const STARTED_MAX = 16;
/** Those of a turn that has accepted a client: more clients may wait to be accepted. */
const STARTED_WITH_NEW_CLIENT_MAX = 2;
/** Reads at work for each connection to PostgreSQL. They wait for the network. On SQLite a read ends in its turn. */
export const READS_OF_CONNECTION_MAX = 16;
/** More writes at work would put a write of another key behind them, in a later commit. */
export const WRITES_AT_WORK_MAX = 128;

/** Requests that are bounded together. A request has its group as its place, from its start to its answer. */
export interface Group {
  readonly name: string;
  readonly atWorkMax: number;
  atWork: number;
}

/** Goes on with a request, or refuses it with the error. One that is refused already ignores the error. */
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
  readonly #writes: Group = { name: 'writes', atWorkMax: WRITES_AT_WORK_MAX, atWork: 0 };
  /** What has no valid key: pages, the health, refusals. None of it asks the store. */
  readonly #others: Group = { name: 'others', atWorkMax: Infinity, atWork: 0 };
  /** By group and key; two lines for what has no valid key. No line is empty. The line whose turn is next comes first. */
  readonly #lines = new Map<string, Set<WaitingRequest>>();
  #identifying = 0;
  #started = 0;
  #startedMax = STARTED_MAX;
  #turn: NodeJS.Immediate | undefined;

  /** @param databaseConnections to PostgreSQL, which reads share; absent on SQLite, which reads at once. */
  constructor(databaseConnections = Infinity) {
    const atWorkMax = READS_OF_CONNECTION_MAX * databaseConnections;
    this.#reads = { name: 'reads', atWorkMax, atWork: 0 };
  }

  get waiting(): number {
    return this.#lines.values().reduce((sum, { size }) => sum + size, 0);
  }

  /** To be called when a client was accepted: this turn is to be short. */
  shortenTurn(): void {
    this.#startedMax = STARTED_WITH_NEW_CLIENT_MAX;
  }

  /** Counts a request whose key is looked up, until then: it is not idle, and most often not here yet. */
  identify<T>(lookup: Promise<T>): Promise<T> {
    this.#identifying += 1;
    return lookup.finally(() => {
      this.#identifying -= 1;
    });
  }

  /** For a client that finds no place: the last request of the longest line, unless as many connections are idle. */
  giveWay(open: number): FastifyRequest | undefined {
    const atWork = this.#reads.atWork + this.#writes.atWork + this.#others.atWork;
    const idle = open - this.#identifying - this.waiting - atWork;
    const [longest] = [...this.#lines.values()].sort((a, b) => b.size - a.size);
    if (longest === undefined || longest.size <= idle) return undefined;
    return [...longest].at(-1)?.request;
  }

  /** Calls `start` in the turn of the request, with an error if that comes too late, and never if its client has gone. */
  enter(request: FastifyRequest, start: Start): void {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const ofKey = isRead ? this.#reads : this.#writes;
    const group = request.keyId === null ? this.#others : ofKey;
    if (this.#lines.size === 0 && this.#mayStart(group)) {
      this.#start(request, group, start);
      return;
    }
    // Refusals without a valid key must not hold up `/livez`.
    const ofNoKey = request.refusal === null ? 'pages' : 'refusals';
    const name = `${group.name} ${request.keyId ?? ofNoKey}`;
    const line = this.#lines.get(name) ?? new Set();
    const late = () => {
      this.#remove(name, waiting);
      this.#start(request, this.#others, start, TOO_LATE);
    };
    const msMax = HTTP_LIMITS.WAIT_MS_MAX.value;
    const timer = group === this.#others ? undefined : setTimeout(late, msMax);
    const waiting = { request, group, start, timer };
    this.#lines.set(name, line.add(waiting));
    // Clients that connect again and again would leave many bodies here.
    request.socket[LAST_RESPONSE]?.once('close', () => this.#remove(name, waiting));
    this.#scheduleTurn();
  }

  leave(request: FastifyRequest): void {
    const { place } = request;
    if (place === null) return;
    request.place = null;
    place.atWork -= 1;
    if (this.#lines.size > 0) this.#scheduleTurn();
  }

  #mayStart({ atWork, atWorkMax }: Group): boolean {
    return this.#started < this.#startedMax && atWork < atWorkMax;
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
    this.#startedMax = STARTED_MAX;
  }

  #remove(name: string, waiting: WaitingRequest): void {
    clearTimeout(waiting.timer);
    const line = this.#lines.get(name);
    if (line?.delete(waiting) && line.size === 0) this.#lines.delete(name);
  }
}
