/** The requests that servers get, and the right answer to each. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCursor } from '../src/http/cursor.ts';
import type { Answer } from '../test/support/socket.ts';
import { createPet, type DatasetPet } from './datasets.ts';
import type { LoadOptions } from './load.ts';
import type { Server } from './servers.ts';

const PAGE = 20;
/** The most different requests of a workload. */
const DIFFERENT_MAX = 10_000;
const NEW_PET = { name: 'Pet 1', categoryId: 1, status: 'available' };

/** Requests to a server with a certain number of pets. */
export interface Workload {
  readonly method: 'GET' | 'POST';
  /** In the order in which they are requested, over and over. */
  readonly paths: readonly string[];
  /** The right answer to the path with this index. The answer to a create also has an id. */
  toExpected(index: number): unknown;
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

/** Pages that begin anywhere, of one status if it is given. */
export function listAnywhere(pets: number, status?: DatasetPet['status']): Workload {
  // A page of one status spans three times as many ids.
  return listAfter(listNumbers(pets - 4 * PAGE), status);
}

export function getAnywhere(pets: number): Workload {
  const ids = listNumbers(pets).map((number) => number + 1);
  return {
    method: 'GET',
    paths: ids.map((id) => `/pets/${id}`),
    toExpected: (index) => createPet(ids[index] ?? 0),
  };
}

function listAfter(afters: readonly number[], status?: DatasetPet['status']): Workload {
  const filter = status === undefined ? '' : `&status=${status}`;
  return {
    method: 'GET',
    paths: afters.map((after) => `/pets?cursor=${createCursor(BigInt(after))}${filter}`),
    toExpected: (index) => toPage(afters[index] ?? 0, status),
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

/** Random numbers below `end`, the same ones in each run. */
function listNumbers(end: number): number[] {
  let state = 1;
  return Array.from({ length: DIFFERENT_MAX }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  });
}

/** How wrk sends the workload to that server. */
export function toLoad(
  workload: Workload,
  server: Server,
  clients: number,
  folder: string,
): LoadOptions {
  const { method, paths } = workload;
  if (method === 'POST') return { clients, path: '/pets', script: ['create.lua'] };
  if (paths.length === 1) return { clients, path: paths[0] ?? '' };
  const { port, pathname } = new URL(server.url);
  const file = join(folder, `paths-${port}.txt`);
  const prefix = pathname.replace(/\/$/, '');
  writeFileSync(file, paths.map((path) => `${prefix}${path}\n`).join(''));
  return { clients, script: ['paths.lua', file] };
}

/** Sends the first and the last request, and compares their answers with the right ones. */
export async function check(workload: Workload, server: Server): Promise<void> {
  const { method, paths, toExpected } = workload;
  for (const index of new Set([0, paths.length - 1])) {
    const { status, headers, body } = await request(server, method, paths[index] ?? '');
    assert.equal(status, method === 'POST' ? 201 : 200, `${server.url}: ${body}`);
    assert.match(headers['content-type'] ?? '', /^application\/json\b/, server.url);
    const value = JSON.parse(body);
    if (method === 'POST') {
      assert(value.id > 0, server.url);
      delete value.id;
    }
    assert.deepEqual(value, toExpected(index), server.url);
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
    // Node adds these by itself.
    [...answer.headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name)),
  );
  return { status: answer.status, headers, body: await answer.text() };
}
