/** What servers are asked, and the right answer to each; who is asked, and how fast, is not known here. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCursor } from '../src/http/cursor.ts';
import { createPet, type DatasetPet } from './datasets.ts';
import type { Load } from './load.ts';
import type { Answer, Server } from './servers.ts';

const PAGE = 20;
/** How many different requests there are at most. */
const DIFFERENT_MAX = 10_000;
const NEW_PET = { name: 'Pet 1', categoryId: 1, status: 'available' };

/** What is asked of a server with so many pets. */
export interface Workload {
  readonly method: 'GET' | 'POST';
  /** In the order in which they are asked, over and over. */
  readonly paths: readonly string[];
  /** The right answer to the path at that place; the one to a create has an id besides. */
  toExpected(place: number): unknown;
}

export const listFirst: Workload = {
  method: 'GET',
  paths: ['/pets'],
  toExpected: () => toPage(0),
};

export const create: Workload = { method: 'POST', paths: ['/pets'], toExpected: () => NEW_PET };

/** All pages, by their cursors. */
export function listPages(pets: number): Workload {
  return listAfter(Array.from({ length: Math.floor(pets / PAGE) }, (_, page) => page * PAGE));
}

/** Pages from anywhere; of one status only, if it is given. */
export function listAnywhere(pets: number, status?: DatasetPet['status']): Workload {
  // A page of one status reaches three times as far.
  return listAfter(listNumbers(pets - 4 * PAGE), status);
}

export function getAnywhere(pets: number): Workload {
  const ids = listNumbers(pets).map((number) => number + 1);
  return {
    method: 'GET',
    paths: ids.map((id) => `/pets/${id}`),
    toExpected: (place) => createPet(ids[place] ?? 0),
  };
}

function listAfter(afters: readonly number[], status?: DatasetPet['status']): Workload {
  const filter = status === undefined ? '' : `&status=${status}`;
  return {
    method: 'GET',
    paths: afters.map((after) => `/pets?cursor=${createCursor(BigInt(after))}${filter}`),
    toExpected: (place) => toPage(afters[place] ?? 0, status),
  };
}

function toPage(after: number, status?: DatasetPet['status']): DatasetPet[] {
  const page: DatasetPet[] = [];
  for (let id = after + 1; page.length < PAGE; id += 1) {
    const pet = createPet(id);
    if (status === undefined || pet.status === status) page.push(pet);
  }
  return page;
}

/** Numbers below the end, each as likely, the same ones in each run. */
function listNumbers(end: number): number[] {
  let state = 1;
  return Array.from({ length: DIFFERENT_MAX }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  });
}

/** The workload as wrk asks it of that server. */
export function toLoad(workload: Workload, server: Server, clients: number, folder: string): Load {
  const { method, paths } = workload;
  if (method === 'POST') return { clients, path: '/pets', script: ['create.lua'] };
  if (paths.length === 1) return { clients, path: paths[0] ?? '' };
  const { port, pathname } = new URL(server.url);
  const file = join(folder, `paths-${port}.txt`);
  const prefix = pathname.replace(/\/$/, '');
  writeFileSync(file, paths.map((path) => `${prefix}${path}\n`).join(''));
  return { clients, script: ['paths.lua', file] };
}

/** Asks once, and compares the first and the last answers with the right ones. */
export async function check(workload: Workload, server: Server): Promise<void> {
  const { method, paths, toExpected } = workload;
  for (const place of new Set([0, paths.length - 1])) {
    const { status, headers, body } = await request(server, method, paths[place] ?? '');
    assert.equal(status, method === 'POST' ? 201 : 200, `${server.url}: ${body}`);
    assert.match(headers['content-type'] ?? '', /^application\/json\b/, server.url);
    const value = JSON.parse(body);
    if (method === 'POST') {
      assert(value.id > 0, server.url);
      delete value.id;
    }
    assert.deepEqual(value, toExpected(place), server.url);
  }
}

/** What the server answers to the workload's first path. */
export function fetchAnswer({ method, paths }: Workload, server: Server): Promise<Answer> {
  return request(server, method, paths[0] ?? '');
}

async function request(server: Server, method: string, path: string): Promise<Answer> {
  const answer = await fetch(server.url + path, {
    method,
    headers: {
      authorization: `Bearer ${server.key}`,
      ...(method === 'POST' && { 'content-type': 'application/json' }),
    },
    ...(method === 'POST' && { body: JSON.stringify(NEW_PET) }),
  });
  const headers = Object.fromEntries(
    // Node's own, which it writes itself.
    [...answer.headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name)),
  );
  return { status: answer.status, headers, body: await answer.text() };
}

/** Follows the links of a list to its end, and fails unless each pet was met once. */
export async function walk(server: Server, pets: number): Promise<void> {
  let met = 0;
  let path: string | undefined = '/pets';
  while (path !== undefined) {
    const { headers, body } = await request(server, 'GET', path);
    for (const pet of JSON.parse(body)) {
      met += 1;
      assert.deepEqual(pet, createPet(met));
    }
    path = /^<\/v1(.+)>; rel="next"$/.exec(headers.link ?? '')?.[1];
  }
  assert.equal(met, pets);
}
