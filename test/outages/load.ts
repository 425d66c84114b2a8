/** Clients that send requests to replicas without a pause, and check each answer. */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { BUSY } from '../support/hang.ts';
import { PASSWORD, type Services, toHeaders } from './petstore.ts';

export const ANSWER_MS_MAX = 2_000 * BUSY;
const CLIENT_WAIT_MS_MAX = 10_000;
const RETRY_AFTER_SECONDS_MAX = 2;
export const RETURN_MS_MAX = 5_000;
/** After this time without a refusal the service counts as back. */
const SETTLED_MS = 1_000;
const PAUSE_MS = 20;
const POLL_MS = 20;

export const OPERATIONS = ['create', 'list', 'get', 'ready'] as const;
export type Operation = (typeof OPERATIONS)[number];

interface RecordedAnswer {
  readonly replica: number;
  readonly operation: Operation;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly isRefusal: boolean;
}

/** What a replica does with an operation in an outage; `any` is both. */
export type Expected = Readonly<Record<Operation, 'refused' | 'answered' | 'any'>>;
const expectAll = (what: Expected[Operation]): Expected => ({
  create: what,
  list: what,
  get: what,
  ready: what,
});
export const ALL_REFUSED = expectAll('refused');
export const ALL_ANSWERED = expectAll('answered');

export interface LoadOptions {
  /** Clients of each operation, on each replica. */
  readonly clients?: number;
  /** Those of each operation that reads, if they are others. */
  readonly readers?: number;
  /** After each answer. */
  readonly pauseMs?: number;
  readonly answerMsMax?: number;
}

/** Starts clients of each replica; the names of their pets begin with the prefix. */
export function startLoad(
  { services, key, created }: Services,
  prefix: string,
  {
    clients = 1,
    readers = clients,
    pauseMs = PAUSE_MS,
    answerMsMax = ANSWER_MS_MAX,
  }: LoadOptions = {},
) {
  const answers: RecordedAnswer[] = [];
  const violations: string[] = [];
  const ids = [...created.keys()];
  let isStopped = false;

  /** Sends one request; resolves to the text of a good answer. */
  async function ask(replica: number, operation: Operation, path: string, init: RequestInit) {
    const startedAt = performance.now();
    const what = `${operation} on replica ${replica}`;
    let answer: Response;
    let text: string;
    try {
      const signal = AbortSignal.timeout(CLIENT_WAIT_MS_MAX);
      answer = await fetch(`${services[replica]?.url}${path}`, { ...init, signal });
      text = await answer.text();
    } catch (error) {
      violations.push(`${what}: no answer: ${error instanceof Error ? error.cause : error}`);
      return undefined;
    }
    const endedAt = performance.now();
    const ms = endedAt - startedAt;
    if (ms >= answerMsMax) violations.push(`${what}: ${Math.round(ms)} ms`);
    const good = operation === 'create' ? 201 : 200;
    const isRefusal = answer.status === 503;
    answers.push({ replica, operation, startedAt, endedAt, isRefusal });
    if (answer.status === good) return text;
    const wrong = isRefusal ? findWrong(answer, text) : `${answer.status} ${text}`;
    if (wrong !== undefined) violations.push(`${what}: ${wrong}`);
    return undefined;
  }

  const headers = { ...toHeaders(key), 'content-type': 'application/json' };

  async function create(replica: number, client: number): Promise<void> {
    let last = 0;
    for (let count = 0; !isStopped; count += 1) {
      // Of one length, as a full disk has room for a shorter one.
      const name = `${prefix}, replica ${replica}, client ${client}, ${count}`.padEnd(60);
      const body = JSON.stringify({ name, categoryId: 1 });
      // Every second one with an Idempotency-Key, which is sent again until it is answered.
      const isRepeatable = count % 2 === 1;
      const key = isRepeatable ? { 'idempotency-key': name.trim().replaceAll(' ', '-') } : {};
      const sent = { method: 'POST', headers: { ...headers, ...key }, body };
      let text: string | undefined;
      do {
        text = await ask(replica, 'create', '/v1/pets', sent);
        await sleep(pauseMs);
      } while (text === undefined && isRepeatable && !isStopped);
      if (text === undefined) continue;
      const { id }: { id: number } = JSON.parse(text);
      if (created.has(id)) violations.push(`the id ${id} was given twice`);
      if (id <= last) violations.push(`a client's id ${last} was followed by ${id}`);
      created.set(id, name);
      ids.push(id);
      last = id;
    }
  }

  async function read(replica: number, operation: Operation): Promise<void> {
    for (let count = 0; !isStopped; count += 1) {
      // Every second one was just acknowledged, by this replica or another.
      const place = count % 2 === 0 ? 1 : Math.random();
      const id = ids[Math.floor(place * (ids.length - 1))] ?? 0;
      const path = { list: '/v1/pets?limit=100', get: `/v1/pets/${id}`, ready: '/readyz' };
      const text = await ask(replica, operation, path[operation as 'get'], { headers });
      if (operation === 'get' && text !== undefined && JSON.parse(text).name !== created.get(id)) {
        violations.push(`the pet ${id} is ${text}`);
      }
      await sleep(pauseMs);
    }
  }

  const running = services.flatMap((_, replica) =>
    [
      Array.from({ length: clients }, (_, client) => create(replica, client)),
      ...OPERATIONS.slice(1).map((operation) =>
        Array.from({ length: readers }, () => read(replica, operation)),
      ),
    ].flat(),
  );

  return {
    violations,

    countRefusals(...of: readonly Operation[]): number {
      return answers.filter(({ isRefusal, operation }) => isRefusal && of.includes(operation))
        .length;
    },

    /** Asserts that all requests in this time went as expected, each operation at least once. */
    assertWithin([from, to]: readonly [number, number], replica: number, expected: Expected): void {
      for (const operation of OPERATIONS) {
        const within = answers.filter(
          (answer) =>
            answer.replica === replica &&
            answer.operation === operation &&
            answer.startedAt >= from &&
            answer.endedAt <= to,
        );
        const refused = within.filter(({ isRefusal }) => isRefusal).length;
        const what = `${operation} on replica ${replica}: ${refused} of ${within.length} refused`;
        assert.ok(within.length > 0, what);
        const least = expected[operation] === 'refused' ? within.length : 0;
        const most = expected[operation] === 'answered' ? 0 : within.length;
        assert.ok(refused >= least && refused <= most, what);
      }
    },

    /** Milliseconds from then to the last refusal; resolves once every operation succeeds on every replica. */
    async waitForReturn(since: number): Promise<number> {
      for (;;) {
        const refusals = answers.filter(({ isRefusal, endedAt }) => isRefusal && endedAt > since);
        const last = refusals.at(-1)?.endedAt ?? since;
        const places = answers
          .filter(({ startedAt }) => startedAt >= last)
          .map(({ replica, operation }) => `${replica} ${operation}`);
        const isComplete = new Set(places).size === services.length * OPERATIONS.length;
        if (isComplete && performance.now() - last > SETTLED_MS) return Math.round(last - since);
        const late = refusals.filter(({ endedAt }) => endedAt - since > RETURN_MS_MAX);
        assert.equal(late.length, 0, `not back after 5 s: ${JSON.stringify(late)}`);
        await sleep(POLL_MS);
      }
    },

    /** Resolves when the last answer was checked. */
    async stop(): Promise<void> {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

/** What is wrong with a 503. */
function findWrong(answer: Response, text: string): string | undefined {
  const { code, message, status } = JSON.parse(text);
  if (code !== 'unavailable' || status !== 503 || typeof message !== 'string') return text;
  if (text.includes(PASSWORD) || text.includes('postgres')) return `it tells too much: ${text}`;
  const seconds = answer.headers.get('retry-after') ?? 'none';
  const isSoon = /^\d+$/.test(seconds) && Number(seconds) <= RETRY_AFTER_SECONDS_MAX;
  return isSoon ? undefined : `Retry-After: ${seconds}`;
}
