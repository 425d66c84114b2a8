/** The history checker finds every violation that it is written for. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createHistory, type History, type Page, type StoredPet } from './history.ts';
import { findViolations } from './history-checker.ts';

const A: StoredPet = { id: 1, name: 'A', status: 'sold' };
const B: StoredPet = { id: 2, name: 'B' };
const C: StoredPet = { id: 3, name: 'C', status: 'sold' };
const ALL = [A, B, C];

/** A, B and C were created by 10, 20 and 30; the answer to C was lost. */
function createGood(more: Partial<History> = {}): History {
  return {
    ...createHistory(),
    creates: [
      { ...A, from: 0, to: 10 },
      { ...B, from: 11, to: 20 },
      { name: C.name, status: C.status, from: 21 },
    ],
    ...more,
  };
}

function toPage(pets: readonly StoredPet[], more: Partial<Page> = {}): Page {
  return { from: 40, to: 50, after: 0, limit: 10, pets, hasNext: false, ...more };
}

const pages = (...all: Page[]) => createGood({ pages: all });

describe('a history that may be', () => {
  const GOOD: Readonly<Record<string, History>> = {
    'nothing read': createGood(),
    'all listed': pages(toPage(ALL)),
    'the unanswered never seen': pages(toPage([A, B])),
    'the unanswered seen late': pages(toPage([A, B]), toPage(ALL, { from: 60, to: 70 })),
    'a pet seen before its answer': pages(toPage([A, B], { from: 12, to: 15 })),
    'a pet not seen by who asked before its answer': pages(toPage([A], { from: 12, to: 60 })),
    'a page of one status': pages(toPage([A, C], { status: 'sold' })),
    'a page behind another': pages(toPage([B], { after: 1, limit: 1, hasNext: true })),
    'a walk during a create': createGood({
      walks: [
        {
          pages: [
            toPage([A], { from: 12, to: 13, limit: 1, hasNext: true }),
            toPage([B], { from: 14, to: 25, after: 1, limit: 1 }),
          ],
        },
      ],
    }),
    gets: createGood({
      gets: [
        { id: 2, from: 12, to: 25 },
        { id: 2, from: 21, to: 25, name: 'B' },
        { id: 9, from: 50, to: 60 },
      ],
    }),
  };
  for (const [name, history] of Object.entries(GOOD)) {
    test(`findViolations › ${name} › finds none`, () => {
      assert.deepEqual(findViolations(history), []);
    });
  }
});

describe('a history that may not be', () => {
  const BAD: Readonly<Record<string, readonly [RegExp, History]>> = {
    'an acknowledged pet that no list has': [/^lost or stale: .* lacks 2 /, pages(toPage([A]))],
    'one that is passed over': [/^passed over: .* lacks 2 /, pages(toPage([A, C]))],
    'one that comes behind the back of a list': [
      /^passed over: .* lacks 2 /,
      {
        ...createHistory(),
        creates: [A, B, C].map(({ name, status }) => ({ name, status, from: 0 })),
        pages: [toPage([A, C]), toPage(ALL, { from: 60, to: 70 })],
      },
    ],
    'one that was seen, and then is gone': [
      /^lost or stale: .* lacks 3 /,
      pages(toPage(ALL), toPage([A, B], { from: 60, to: 70 })),
    ],
    'one that a page of its status lacks': [
      /^lost or stale: .* lacks 1 /,
      pages(toPage([], { status: 'sold' })),
    ],
    'one of another status': [/^unexpected: .* has 2 /, pages(toPage([A, B], { status: 'sold' }))],
    'a get that is stale': [
      /^lost or stale: a get did not find 2 /,
      createGood({ gets: [{ id: 2, from: 21, to: 25 }] }),
    ],
    'a get of another pet': [
      /^id used twice: 2 is B and A/,
      createGood({ gets: [{ id: 2, from: 21, to: 25, name: 'A' }] }),
    ],
    'a pet that nobody asked for': [
      /^unexpected: nobody had asked for 4 /,
      pages(toPage([...ALL, { id: 4, name: 'D' }])),
    ],
    'a pet before somebody asked for it': [
      /^unexpected: nobody had asked for 2 /,
      pages(toPage([A, B], { from: 1, to: 5 })),
    ],
    'a pet that is there twice': [
      /^doubled: B is 2 and 4/,
      pages(toPage([...ALL, { id: 4, name: 'B' }])),
    ],
    'a pet twice in a page': [/^out of order: .* 1 after 1/, pages(toPage([A, A, B]))],
    'an id that is acknowledged twice': [
      /^id used twice: 1 is A and B/,
      createGood({
        creates: [
          { ...A, from: 0, to: 10 },
          { ...B, id: 1, from: 11, to: 20 },
        ],
      }),
    ],
    'an id that is used again after a crash': [
      /^id used twice: 3 is D and C/,
      createGood({
        creates: [...createGood().creates, { name: 'D', id: 3, from: 60, to: 70 }],
        pages: [toPage(ALL)],
      }),
    ],
    'ids against the order of creates': [
      /^out of order: 1 \(B\) came after 2 \(A\)/,
      createGood({
        creates: [
          { name: 'A', id: 2, from: 0, to: 10 },
          { name: 'B', id: 1, from: 11, to: 20 },
        ],
      }),
    ],
    'ids against the order in which they were seen': [
      /^out of order: 2 \(B\) came after 3 \(C\)/,
      createGood({
        creates: [
          { name: 'C', from: 0 },
          { name: 'B', id: 2, from: 60, to: 70 },
        ],
        gets: [{ id: 3, name: 'C', from: 40, to: 50 }],
      }),
    ],
    'a page against the order': [/^out of order: .* 1 after 2/, pages(toPage([B, A]))],
    'a page that begins too early': [
      /^out of order: .* 1 after 1/,
      pages(toPage(ALL, { after: 1 })),
    ],
    'a page that is too long': [/^too long: /, pages(toPage(ALL, { limit: 2 }))],
    'a page that is cut short': [/^cut short: /, pages(toPage([A], { hasNext: true }))],
    'a walk that misses one between its pages': [
      /^lost or stale: a walk did not meet 2 /,
      createGood({
        walks: [
          {
            pages: [
              toPage([A], { limit: 1, hasNext: true }),
              toPage([C], { after: 2, limit: 1, hasNext: false }),
            ],
          },
        ],
      }),
    ],
    'a walk that meets one twice': [
      /^out of order: a walk has 2 after 2/,
      createGood({
        walks: [
          {
            pages: [
              toPage([A, B], { limit: 2, hasNext: true }),
              toPage([B, C], { after: 1, limit: 2 }),
            ],
          },
        ],
      }),
    ],
  };
  for (const [name, [pattern, history]] of Object.entries(BAD)) {
    test(`findViolations › ${name} › is found`, () => {
      const violations = findViolations(history);
      assert.ok(
        violations.some((violation) => pattern.test(violation)),
        `${pattern} is not in ${JSON.stringify(violations)}`,
      );
    });
  }
});
