/** When a page is read, when it is cached and when it is dropped. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createCache } from '../../src/storage/page-cache.ts';

const UNITS_MAX = 8 * 1024 * 1024;
/** What each page costs beside its text. */
const PAGE_UNITS = 128;

type Read = (name: bigint) => Promise<string | undefined>;

/** A cache of texts by their numbers. */
function create(read: Read, readCommitCounter = () => 1) {
  const cached = createCache<string | undefined>(readCommitCounter, (text) => text?.length);
  return (name: bigint) => cached(name, () => read(name));
}

test('createCache › a read that fails, then one that finds nothing › are not cached', async () => {
  const answers = [Promise.reject(new Error('the disk is gone')), undefined, 'Rex'];
  const find = create(async () => answers.shift());
  await assert.rejects(find(1n), { message: 'the disk is gone' });
  assert.equal(await find(1n), undefined);
  for (let times = 0; times < 2; times += 1) assert.equal(await find(1n), 'Rex');
});

/** Reads that end on demand; each returns the commit counter of its start. */
class SlowStore {
  commits = 1;
  readonly reading: (() => void)[] = [];
  readonly find = create(
    () => {
      const { promise, resolve } = Promise.withResolvers<string>();
      const text = String(this.commits);
      this.reading.push(() => resolve(text));
      return promise;
    },
    () => this.commits,
  );

  /** Ends the first or the last of the reads under way, and lets its reader continue. */
  async end(which: 'first' | 'last'): Promise<void> {
    (which === 'first' ? this.reading.shift() : this.reading.pop())?.();
    await new Promise(setImmediate);
  }
}

test('createCache › any order of requests, commits and ends › no page is older than its request', async () => {
  const step = fc.constantFrom(1n, 2n, 'write' as const, 'first' as const, 'last' as const);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const store = new SlowStore();
      const answers: Promise<void>[] = [];
      for (const one of steps) {
        if (one === 'write') store.commits += 1;
        else if (typeof one === 'string') await store.end(one);
        else {
          const asked = store.commits;
          answers.push(store.find(one).then((text) => assert.ok(Number(text) >= asked)));
        }
      }
      while (store.reading.length > 0) await store.end('first');
      await Promise.all(answers);
    }),
    // A read that ends after a later commit was seen.
    { examples: [[[1n, 'write', 2n, 'first', 1n]]] },
  );
});

/** How many of the pages that were read are cached: the last ones, since all are dropped at once. */
async function countCached(text: string, pages: number): Promise<number> {
  let reads = 0;
  const find = create(async () => {
    reads += 1;
    return text;
  });
  for (let name = 1; name <= pages; name += 1) await find(BigInt(name));
  let cached = 0;
  for (; cached < pages; cached += 1) {
    await find(BigInt(pages - cached));
    if (reads > pages) break;
  }
  return cached;
}

const HALF = 'x'.repeat(UNITS_MAX / 2 - PAGE_UNITS);
for (const [what, text, pages, cached] of [
  ['that take the limit to the unit', HALF, 2, 2],
  ['without any text, and two more', '', UNITS_MAX / PAGE_UNITS + 2, 2],
] as const) {
  test(`createCache › ${pages} pages ${what} › caches ${cached}`, async () => {
    assert.equal(await countCached(text, pages), cached);
  });
}
