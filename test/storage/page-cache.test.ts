/** When a page is read, when it is kept and when it is forgotten; what a page holds is in store.contract.test.ts. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { PET_STATUSES, type PetStatus } from '../../src/pet.ts';
import { createPageCache } from '../../src/storage/page-cache.ts';
import type { JsonPage, PetQuery } from '../../src/store.ts';

const UNITS_MAX = 8 * 1024 * 1024;
/** No page costs less than this many bytes to keep, its name among them. */
const SMALL_PAGES_MAX = UNITS_MAX / 64;

/** Pets in an array, whose version is their count. */
class Shelf {
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

function createShelf(): Shelf {
  const shelf = new Shelf();
  for (let count = 0; count < 4; count += 1) shelf.statuses.push(...PET_STATUSES);
  return shelf;
}

/** Reads that end when they are told to, each with the version of its start. */
class SlowShelf {
  version = 1;
  readonly #reading: (() => void)[] = [];
  readonly list = createPageCache(
    () => {
      const { promise, resolve } = Promise.withResolvers<JsonPage>();
      const page = { json: String(this.version) };
      this.#reading.push(() => resolve(page));
      return promise;
    },
    () => this.version,
  );

  /** Ends one read, of the first or of the last that is under way, and lets its reader go on. */
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
  test('createPageCache › the same query while the version stands › reads once', async () => {
    const shelf = createShelf();
    const first = await shelf.list({ limit: 2, status: 'sold', after: 1n });
    for (let count = 0; count < 10; count += 1) {
      assert.deepEqual(await shelf.list({ after: 1n, status: 'sold', limit: 2 }), first);
    }
    assert.deepEqual(first, { json: '[3,6]', next: 6n });
    assert.equal(shelf.reads, 1);
  });

  test('createPageCache › any queries › each has its own page and is read once', async () => {
    const queries = fc.uniqueArray(query, { selector: (one) => Object.entries(one).join() });
    await fc.assert(
      fc.asyncProperty(queries, async (asked) => {
        const shelf = createShelf();
        const plain = createShelf();
        for (const one of [...asked, ...asked]) {
          assert.deepEqual(await shelf.list(one), await plain.read(one));
        }
        assert.equal(shelf.reads, asked.length);
      }),
    );
  });

  test('createPageCache › another version › forgets every page', async () => {
    const shelf = createShelf();
    const queries = [{ limit: 20 }, { limit: 20, status: 'sold' as const }, { limit: 2 }];
    for (const one of queries) await shelf.list(one);
    shelf.statuses.push('sold');
    for (const one of queries) assert.deepEqual(await shelf.list(one), await shelf.read(one));
    // Twice the plain reads, and each page once more.
    assert.equal(shelf.reads, 9);
  });

  test('createPageCache › a read that fails › is not kept', async () => {
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
  test('createPageCache › a write before the read ends › is seen by the next reader', async () => {
    const shelf = new SlowShelf();
    const early = shelf.list({ limit: 1 });
    shelf.version = 2;
    await shelf.end('first');
    assert.deepEqual(await early, { json: '1' });
    const late = shelf.list({ limit: 1 });
    await shelf.end('first');
    assert.deepEqual(await late, { json: '2' });
  });

  test('createPageCache › another reader between the write and the end of the read › is not shown the old page', async () => {
    const shelf = new SlowShelf();
    const early = shelf.list({ limit: 1 });
    shelf.version = 2;
    const late = shelf.list({ limit: 1 });
    await shelf.end('first');
    assert.deepEqual(await early, { json: '1' });
    const later = shelf.list({ limit: 1 });
    await shelf.end('first');
    await shelf.end('first');
    assert.deepEqual([await late, await later], [{ json: '2' }, { json: '2' }]);
  });

  test('createPageCache › an old read that ends last › does not take the place of the new page', async () => {
    const shelf = new SlowShelf();
    const early = shelf.list({ limit: 1 });
    shelf.version = 2;
    const late = shelf.list({ limit: 1 });
    await shelf.end('last');
    await shelf.end('last');
    assert.deepEqual([await early, await late], [{ json: '1' }, { json: '2' }]);
    assert.deepEqual(await shelf.list({ limit: 1 }), { json: '2' });
  });

  test('createPageCache › any order of asking, writing and ending › no answer is older than its question', async () => {
    const step = fc.oneof(
      fc.record({ limit: fc.constantFrom(1, 2) }),
      fc.constantFrom('write' as const, 'first' as const, 'last' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const shelf = new SlowShelf();
        const answers: Promise<void>[] = [];
        for (const one of steps) {
          if (one === 'write') shelf.version += 1;
          else if (typeof one === 'string') await shelf.end(one);
          else {
            const asked = shelf.version;
            const page = Promise.resolve(shelf.list(one));
            answers.push(page.then(({ json }) => assert.ok(Number(json) >= asked, json)));
          }
        }
        while (shelf.reading > 0) await shelf.end('first');
        await Promise.all(answers);
      }),
    );
  });
});

describe('createPageCache, asked for many pages', () => {
  /** How many of the pages that were asked for are kept: the last ones, since all are forgotten at once. */
  async function countKept(json: string, pages: number): Promise<number> {
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
    let kept = 0;
    while (kept < pages) {
      await ask(pages - kept);
      if (reads > pages) break;
      kept += 1;
    }
    return kept;
  }

  test('createPageCache › many large pages › keeps some, and no more than the most units', async () => {
    const units = UNITS_MAX / 16;
    const kept = await countKept('x'.repeat(units), 100);
    assert.ok(kept > 1 && kept <= 16, `${kept} pages`);
  });

  test('createPageCache › a page larger than all that may be kept › pushes out the others', async () => {
    const kept = await countKept('x'.repeat(UNITS_MAX + 1), 5);
    assert.ok(kept <= 1, `${kept} pages`);
  });

  test('createPageCache › many empty pages › keeps some, and counts what each costs', async () => {
    const kept = await countKept('[]', 2 * SMALL_PAGES_MAX);
    assert.ok(kept > 1 && kept <= SMALL_PAGES_MAX, `${kept} pages`);
  });
});
