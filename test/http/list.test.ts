/** `GET /v1/pets`: its parameters, its pages and the links between them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCursor } from '../../src/http/cursor.ts';
import type { NewPet } from '../../src/pet.ts';
import { startSharedApp } from '../support/app.ts';
import { assertError, assertJson, send } from '../support/request.ts';
import type { Answer } from '../support/socket.ts';

const service = await startSharedApp();

/** 120 pets: of each three one is available, one pending, one has no status. */
async function* seed(): AsyncGenerator<NewPet> {
  for (let id = 1; id <= 120; id += 1) {
    const status = (['available', 'pending'] as const)[(id % 3) - 1];
    yield { name: `pet ${id}`, categoryId: BigInt(id), ...(status && { status }) };
  }
}
await service.store.pets.merge(seed());

const list = (query: string) =>
  send(service.port, { path: `/v1/pets${query}`, headers: service.authorization });

function idsOf(answer: Answer): number[] {
  assertJson(answer, 200);
  assert.equal(answer.headers.deprecation, undefined);
  return JSON.parse(answer.body).map(({ id }: { id: number }) => id);
}

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

/** Of every third pet. */
const AVAILABLE = range(0, 39).map((at) => 1 + 3 * at);

for (const [query, ids] of [
  ['', range(1, 20)],
  ['?limit=7', range(1, 7)],
  ['?status=available&limit=3', [1, 4, 7]],
  ['?limit=3&status=pending', [2, 5, 8]],
  ['?status=sold', []],
  ['?%6cimit=%32&_=%zz', [1, 2]],
  [
    '?limit=2&_=1795219200&utm_source=a&utm_source=b&utm_=&fbclid=c&gclid=d&gbraid&msclkid=e',
    [1, 2],
  ],
] as const) {
  test(`GET /v1/pets › with the query "${query}" › answers those pets by id`, async () => {
    assert.deepEqual(idsOf(await list(query)), ids);
  });
}

const LIMIT = /^limit must be a whole number from 1 to 100$/;
const STATUS = /^status must be one of available, pending, sold$/;
const TWICE = /^(?:limit|status|cursor) must be given only once$/;
const CURSOR = /^cursor must be the unchanged cursor of a Link$/;

const UNKNOWN = (hint: string) => new RegExp(`^unknown parameter "[^"]*": ${hint}$`);
const KNOWN = UNKNOWN('known are limit, .*status, cursor');

for (const [queries, message] of [
  [['statsu=sold', 'Status=sold', 'limit=2&status[]=sold'], UNKNOWN('did you mean status\\?')],
  [['limits=5', 'Limit=0', 'lomet=5', 'limit=2&limit%20=5'], UNKNOWN('did you mean limit\\?')],
  [['page=3', 'limit=2&offset=9', '__=1', 'xutm_source=a', '=', '__proto__=x', 'toString'], KNOWN],
  [
    ['limit=5&limit=5', 'limit=5&x=1&limit=', 'status=sold&status=pending', 'cursor=a&cursor=a'],
    TWICE,
  ],
  [['limit', 'limit=', 'limit=0', 'limit=101', 'limit=-1', 'limit=05', 'limit=1.0'], LIMIT],
  [['limit=%205', 'limit=5%0A', 'limit=%EF%BC%95', 'limit=%zz'], LIMIT],
  [['status', 'status=', 'status=Sold', 'status=sold%20', 'status=constructor'], STATUS],
] as const) {
  for (const query of queries) {
    test(`GET /v1/pets › with the query "?${query}" › answers 400 and names the parameter`, async () => {
      assertError(await list(`?${query}`), 'bad_request', message);
    });
  }
}

for (const [query, expected] of [
  ['?limit=100', [range(1, 100), range(101, 120)]],
  ['?limit=40&status=available', [AVAILABLE]],
  ['?limit=39&status=available', [AVAILABLE.slice(0, 39), AVAILABLE.slice(39)]],
] as const) {
  test(`GET /v1/pets › the pages of "${query}" › are full but for the last, which has no link`, async () => {
    const pages: number[][] = [];
    for (let next: string | undefined = query; next !== undefined; ) {
      const answer = await list(next);
      pages.push(idsOf(answer));
      const { link = '' } = answer.headers;
      assert.match(link, /^(?:<\/v1\/pets\?[^>]+>; rel="next")?$/);
      next = /\?.+(?=>)/.exec(link)?.[0];
    }
    assert.deepEqual(pages, expected);
  });
}

const cursor = createCursor(5n);

test('GET /v1/pets › a cursor with another limit and status › carries on after the same pet', async () => {
  assert.deepEqual(idsOf(await list(`?cursor=${cursor}&limit=3`)), [6, 7, 8]);
  assert.deepEqual(idsOf(await list(`?cursor=${cursor}&limit=2&status=available`)), [7, 10]);
  // The cursors of 1.0.0 have no checksum.
  assert.deepEqual(idsOf(await list('?cursor=AAAAAAAAAAU&limit=3')), [6, 7, 8]);
});

for (const [what, value] of [
  ['empty', ''],
  ['made up from its pattern', 'Zx3kQ0aT-_b7LmN1'],
  ['shortened', cursor.slice(0, -1)],
  ['of 10 characters', 'A'.repeat(10)],
  ['with a line feed behind', `${cursor}%0A`],
  ['of another checksum', createCursor(5n).slice(0, 11) + createCursor(6n).slice(11)],
  ['of 1.0.0 with stray bits in its last character', 'AAAAAAAAAAV'],
  ['of the least id', 'gAAAAAAAAAA'],
] as const) {
  test(`GET /v1/pets › a cursor ${what} › answers 400 and names it`, async () => {
    assertError(await list(`?cursor=${value}`), 'bad_request', CURSOR);
  });
}
