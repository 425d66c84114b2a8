/** When a page is read, when it is cached and when it is dropped. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { PET_STATUSES, type PetStatus } from '../../src/pet.ts';
import { createCache, createPageCache } from '../../src/storage/page-cache.ts';
import type { JsonPage, PetQuery } from '../../src/store.ts';

const UNITS_MAX = 8 * 1024 * 1024;
/** A cached page costs at least this many bytes, its name included. */
const SMALL_PAGES_MAX = UNITS_MAX / 64;

/** Pets in an array, whose length is the commit counter. */
class ArrayStore {
  readonly statuses: PetStatus[] = [];
  reads = 0;
  readonly list = createPageCache(
    (query) => this.read(query),
    () => this.statuses.length,
  );

  async read({ limit, status, after = 0n }: PetQuery): Promise<JsonPage> {
    this.reads += 1;
    const ids = [...this.statuses.entries()]
      .filter(([, one]) => status === undefined || one === status)
      .map(([index]) => BigInt(index + 1))
      .filter((id) => id > after);
    const json = `[${ids.slice(0, limit)}]`;
    const next = ids[limit - 1];
    return ids.length > limit && next !== undefined ? { json, next } : { json };
  }
}

function createArrayStore(): ArrayStore {
  const store = new ArrayStore();
  for (let count = 0; count < 4; count += 1) store.statuses.push(...PET_STATUSES);
  return store;
}

/** Reads that end on demand; each returns the commit counter of its start. */
class SlowStore {
  commits = 1;
  readonly #reading: (() => void)[] = [];
  readonly list = createPageCache(
    () => {
      const { promise, resolve } = Promise.withResolvers<JsonPage>();
      const page = { json: String(this.commits) };
      this.#reading.push(() => resolve(page));
      return promise;
    },
    () => this.commits,
  );

  /** Ends the first or the last of the reads under way, and lets its reader continue. */
  async end(which: 'first' | 'last'): Promise<void> {
    (which === 'first' ? this.#reading.shift() : this.#reading.pop())?.();
    await new Promise(setImmediate);
  }

  get reading(): number {
    return this.#reading.length;
  }
}

const query = fc.record(
  {
    limit: fc.integer({ min: 1, max: 12 }),
    status: fc.constantFrom(...PET_STATUSES),
    after: fc.bigInt(0n, 12n),
  },
  { requiredKeys: ['limit'] },
);

describe('createPageCache', () => {
  test('createPageCache › the same query without a commit between › reads once', async () => {
    const store = createArrayStore();
    const first = await store.list({ limit: 2, status: 'sold', after: 1n });
    for (let count = 0; count < 10; count += 1) {
      assert.deepEqual(await store.list({ after: 1n, status: 'sold', limit: 2 }), first);
    }
    assert.deepEqual(first, { json: '[3,6]', next: 6n });
    assert.equal(store.reads, 1);
  });

  test('createPageCache › any queries › each has its own page, which is read once', async () => {
    const queries = fc.uniqueArray(query, { selector: (one) => Object.entries(one).join() });
    await fc.assert(
      fc.asyncProperty(queries, async (asked) => {
        const store = createArrayStore();
        const plain = createArrayStore();
        for (const one of [...asked, ...asked]) {
          assert.deepEqual(await store.list(one), await plain.read(one));
        }
        assert.equal(store.reads, asked.length);
      }),
    );
  });

  test('createPageCache › another commit counter › drops every page', async () => {
    const store = createArrayStore();
    const queries = [{ limit: 20 }, { limit: 20, status: 'sold' as const }, { limit: 2 }];
    for (const one of queries) await store.list(one);
    store.statuses.push('sold');
    for (const one of queries) assert.deepEqual(await store.list(one), await store.read(one));
    // Twice by the cache, and once by the comparison itself.
    assert.equal(store.reads, 9);
  });

  test('createPageCache › a read that fails › is not cached', async () => {
    let reads = 0;
    const list = createPageCache(
      async () => {
        reads += 1;
        if (reads === 1) throw new Error('the disk is gone');
        return { json: '[]' };
      },
      () => 1,
    );
    await assert.rejects(async () => list({ limit: 1 }), { message: 'the disk is gone' });
    assert.deepEqual(await list({ limit: 1 }), { json: '[]' });
  });
});

describe('createPageCache, written to while a page is read', () => {
  test('createPageCache › any order of requests, commits and ends › no page is older than its request', async () => {
    const step = fc.oneof(
      fc.record({ limit: fc.constantFrom(1, 2) }),
      fc.constantFrom('write' as const, 'first' as const, 'last' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const store = new SlowStore();
        const answers: Promise<void>[] = [];
        for (const one of steps) {
          if (one === 'write') store.commits += 1;
          else if (typeof one === 'string') await store.end(one);
          else {
            const asked = store.commits;
            const page = Promise.resolve(store.list(one));
            answers.push(page.then(({ json }) => assert.ok(Number(json) >= asked, json)));
          }
        }
        while (store.reading > 0) await store.end('first');
        await Promise.all(answers);
      }),
    );
  });
});

describe('createPageCache, many pages', () => {
  /** How many of the pages that were read are cached: the last ones, since all are dropped at once. */
  async function countCached(json: string, pages: number): Promise<number> {
    let reads = 0;
    const list = createPageCache(
      async () => {
        reads += 1;
        return { json };
      },
      () => 1,
    );
    const ask = (after: number) => list({ limit: 100, after: BigInt(after) });
    for (let after = 1; after <= pages; after += 1) await ask(after);
    let cached = 0;
    while (cached < pages) {
      await ask(pages - cached);
      if (reads > pages) break;
      cached += 1;
    }
    return cached;
  }

  test('createPageCache › pages that take the limit to the unit › are all cached', async () => {
    // Each page costs 128 units beside its text.
    const half = 'x'.repeat(UNITS_MAX / 2 - 128);
    assert.deepEqual([await countCached(half, 2), await countCached(`${half}x`, 2)], [2, 1]);
  });

  test('createPageCache › many empty pages › caches some, and counts the cost of each', async () => {
    const cached = await countCached('[]', SMALL_PAGES_MAX + 1);
    assert.ok(cached > 1 && cached <= SMALL_PAGES_MAX, `${cached} pages`);
  });
});

describe('createCache', () => {
  test('createCache › a result without units › leaves the limit as it is', async () => {
    const asked: bigint[] = [];
    const half = 'x'.repeat(UNITS_MAX / 2);
    const find = createCache(
      {
        read: async (id: bigint) => {
          asked.push(id);
          return id === 1n ? undefined : half;
        },
        toName: (id) => id,
        toUnits: (text) => text?.length,
      },
      () => 1,
    );
    for (const id of [1n, 2n, 3n, 2n]) await find(id);
    assert.deepEqual(asked, [1n, 2n, 3n, 2n]);
  });
});
