/** When a page is read, when it is cached and when it is dropped. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createCache, createPageCache } from '../../src/storage/page-cache.ts';
import type { JsonPage } from '../../src/store.ts';

const UNITS_MAX = 8 * 1024 * 1024;
/** A cached page costs at least this many bytes, its name included. */
const SMALL_PAGES_MAX = UNITS_MAX / 64;

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

describe('createPageCache', () => {
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
