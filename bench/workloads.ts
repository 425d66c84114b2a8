/** What servers are asked, and the right answer to each; who is asked, and how fast, is not known here. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCursor } from '../src/http/cursor.ts';
import { type Animal, toAnimal } from './datasets.ts';
import type { Load } from './load.ts';
import type { Answer, Server } from './servers.ts';

const PAGE = 20;
/** How many different requests there are at most. */
const DIFFERENT_MAX = 10_000;
const NEW_PET = { name: 'Animal 1', categoryId: 1, status: 'available' };

/** What is asked of a server with so many animals. */
export interface Question {
  readonly method: 'GET' | 'POST';
  /** In the order in which they are asked, over and over. */
  readonly paths: readonly string[];
  /** The right answer to the path at that place; the one to a create has an id besides. */
  toRight(place: number): unknown;
}

export const listFirst: Question = {
  method: 'GET',
  paths: ['/pets'],
  toRight: () => toPage(0),
};

export const create: Question = { method: 'POST', paths: ['/pets'], toRight: () => NEW_PET };

/** All pages, by their cursors. */
export function listPages(animals: number): Question {
  return listAfter(Array.from({ length: Math.floor(animals / PAGE) }, (_, page) => page * PAGE));
}

/** Pages from anywhere; of one status only, if it is given. */
export function listAnywhere(animals: number, status?: Animal['status']): Question {
  // A page of one status reaches three times as far.
  return listAfter(listNumbers(animals - 4 * PAGE), status);
}

export function getAnywhere(animals: number): Question {
  const ids = listNumbers(animals).map((number) => number + 1);
  return {
    method: 'GET',
    paths: ids.map((id) => `/pets/${id}`),
    toRight: (place) => toAnimal(ids[place] ?? 0),
  };
}

function listAfter(afters: readonly number[], status?: Animal['status']): Question {
  const filter = status === undefined ? '' : `&status=${status}`;
  return {
    method: 'GET',
    paths: afters.map((after) => `/pets?cursor=${createCursor(BigInt(after))}${filter}`),
    toRight: (place) => toPage(afters[place] ?? 0, status),
  };
}

function toPage(after: number, status?: Animal['status']): Animal[] {
  const page: Animal[] = [];
  for (let id = after + 1; page.length < PAGE; id += 1) {
    const animal = toAnimal(id);
    if (status === undefined || animal.status === status) page.push(animal);
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

/** The question as wrk asks it of that server. */
export function toLoad(question: Question, server: Server, clients: number, folder: string): Load {
  const { method, paths } = question;
  if (method === 'POST') return { clients, path: '/pets', script: ['create.lua'] };
  if (paths.length === 1) return { clients, path: paths[0] ?? '' };
  const { port, pathname } = new URL(server.url);
  const file = join(folder, `paths-${port}.txt`);
  const prefix = pathname.replace(/\/$/, '');
  writeFileSync(file, paths.map((path) => `${prefix}${path}\n`).join(''));
  return { clients, script: ['paths.lua', file] };
}

/** Asks once, and compares the first and the last answers with the right ones. */
export async function check(question: Question, server: Server): Promise<void> {
  const { method, paths, toRight } = question;
  for (const place of new Set([0, paths.length - 1])) {
    const { status, headers, body } = await askOnce(server, method, paths[place] ?? '');
    assert.equal(status, method === 'POST' ? 201 : 200, `${server.url}: ${body}`);
    assert.match(headers['content-type'] ?? '', /^application\/json\b/, server.url);
    const value = JSON.parse(body);
    if (method === 'POST') {
      assert(value.id > 0, server.url);
      delete value.id;
    }
    assert.deepEqual(value, toRight(place), server.url);
  }
}

/** What the server answers to the question's first path. */
export function findAnswer({ method, paths }: Question, server: Server): Promise<Answer> {
  return askOnce(server, method, paths[0] ?? '');
}

async function askOnce(server: Server, method: string, path: string): Promise<Answer> {
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

/** Follows the links of a list to its end, and fails unless each animal was met once. */
export async function walk(server: Server, animals: number): Promise<void> {
  let met = 0;
  let path: string | undefined = '/pets';
  while (path !== undefined) {
    const { headers, body } = await askOnce(server, 'GET', path);
    for (const animal of JSON.parse(body)) {
      met += 1;
      assert.deepEqual(animal, toAnimal(met));
    }
    path = /^<\/v1(.+)>; rel="next"$/.exec(headers.link ?? '')?.[1];
  }
  assert.equal(met, animals);
}
