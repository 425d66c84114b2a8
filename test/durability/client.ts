/** A client of a service: each method is one operation, which it records in a history. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Sent, send } from '../support/request.ts';
import type { Answer } from '../support/socket.ts';
import type { Create, History, StoredPet } from './history.ts';
import { dice } from './subject.ts';

const PAUSE_MS = 20;
/** A service that runs answers sooner, and one that was killed breaks the connection. */
const WAIT_MS_MAX = 10_000;

/** The service of a client; `ports` may change between requests. */
interface ClientTarget {
  readonly key: string;
  readonly ports: readonly number[];
}

/** The path of a page, and its query. */
export interface PageLocation {
  readonly path: string;
  readonly after: number;
  readonly limit: number;
  readonly status?: string | undefined;
}

export function createClient(target: ClientTarget, history: History) {
  const authorization = `Bearer ${target.key}`;

  /** The answer; undefined for none and for 503, after either of which a create may have been done or not. */
  async function ask(sent: Sent, good: readonly number[]): Promise<Answer | undefined> {
    const port = dice.pick(target.ports);
    const what = `${sent.method ?? 'GET'} ${sent.path}`;
    const headers = { authorization, ...sent.headers };
    const signal = AbortSignal.timeout(WAIT_MS_MAX);
    let wasSent = true;
    const answer = await send(port, { ...sent, headers, signal }).catch(({ code }) => {
      wasSent = code !== 'ECONNREFUSED';
    });
    if (signal.aborted) history.wrong.push(`${what}: no answer within ${WAIT_MS_MAX} ms`);
    if (!answer || answer.status === 503) {
      if (wasSent && sent.method === 'POST') history.brokenCreates += 1;
      return undefined;
    }
    if (good.includes(answer.status)) return answer;
    history.wrong.push(`${what}: ${answer.status} ${answer.body}`);
    return undefined;
  }

  /** The first page of a list. */
  function toFirst(limit: number, status?: string): PageLocation {
    const filter = status === undefined ? '' : `&status=${status}`;
    return { path: `/v1/pets?limit=${limit}${filter}`, after: 0, limit, status };
  }

  /** Where the list goes on, or `end`; undefined if it was not answered. */
  async function list({ path, ...place }: PageLocation): Promise<PageLocation | 'end' | undefined> {
    const from = performance.now();
    const answer = await ask({ path }, [200]);
    if (answer === undefined) return undefined;
    const pets: StoredPet[] = JSON.parse(answer.body);
    const next = /^<(.+)>; rel="next"$/.exec(answer.headers.link ?? '')?.[1];
    const hasNext = next !== undefined;
    history.pages.push({ ...place, from, to: performance.now(), pets, hasNext });
    if (next === undefined) return 'end';
    return { ...place, path: next, after: pets.at(-1)?.id ?? place.after };
  }

  return {
    toFirst,

    /** Creates a pet. */
    plan(name: string, status?: string): Create {
      const create = { name, status, from: performance.now() };
      history.creates.push(create);
      return create;
    },

    /** Whether it was answered. A repeatable create may be sent again even then. */
    async create(create: Create, isRepeatable: boolean): Promise<boolean> {
      const { name, status } = create;
      const headers = {
        'content-type': 'application/json',
        ...(isRepeatable && { 'idempotency-key': name.replaceAll(' ', '-') }),
      };
      const body = JSON.stringify({ name, categoryId: 1, status });
      const answer = await ask({ method: 'POST', path: '/v1/pets', headers, body }, [201]);
      if (answer === undefined) return false;
      const pet: { id: number; name: string } = JSON.parse(answer.body);
      if (pet.name !== name || (create.id ?? pet.id) !== pet.id) {
        history.wrong.push(`the create of ${name} (${create.id}) was answered by ${answer.body}`);
      }
      create.to ??= performance.now();
      create.id ??= pet.id;
      return true;
    },

    async get(id: number): Promise<void> {
      const from = performance.now();
      const answer = await ask({ path: `/v1/pets/${id}` }, [200, 404]);
      if (answer === undefined) return;
      const { name } = answer.status === 200 ? JSON.parse(answer.body) : {};
      history.gets.push({ id, from, to: performance.now(), name });
    },

    list,

    /** Reads all pages, each until it is answered; resolves to the location of the last one. */
    async walk(first: PageLocation): Promise<PageLocation> {
      for (let place = first; ; ) {
        const next = await list(place);
        if (next === 'end') return place;
        if (next === undefined) await sleep(PAUSE_MS);
        else place = next;
      }
    },
  };
}

export type Client = ReturnType<typeof createClient>;
