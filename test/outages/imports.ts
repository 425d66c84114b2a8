/** Imports and corrections beside the load. Each import is kept whole, or not at all. */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { PetstoreError } from '../../src/error.ts';
import { openStore } from '../../src/storage/open.ts';
import type { Services } from './petstore.ts';

const PETS = 20;
const PAUSE_MS = 200;

/** Imports pets without a pause, and then corrects their names, as the commands do. */
export async function startImports(address: string, { created }: Services, prefix: string) {
  const store = await openStore(address, { create: false });
  const violations: string[] = [];
  /** Of imports that failed: what is known of them. */
  const failed: { readonly names: string[]; readonly isUnsure: boolean }[] = [];
  let done = 0;
  let isStopped = false;

  function toFailure(error: unknown): PetstoreError | undefined {
    if (error instanceof PetstoreError && error.code === 'unavailable') return error;
    violations.push(`an import: ${error}`);
    return undefined;
  }

  /** Corrects them again, until it is known that they are. */
  async function correct(pets: readonly { id: bigint; name: string; categoryId: bigint }[]) {
    for (;;) {
      try {
        await store.pets.merge(ReadableStream.from(pets), { update: true });
        return;
      } catch (error) {
        if (toFailure(error) === undefined) return;
        await sleep(PAUSE_MS);
      }
    }
  }

  async function run(): Promise<void> {
    for (let round = 0; !isStopped; round += 1) {
      const names = Array.from({ length: PETS }, (_, at) => `${prefix}, import ${round}, ${at}`);
      const pets = names.map((name) => ({ name, categoryId: 1n }));
      try {
        const { withNewIds } = await store.pets.merge(ReadableStream.from(pets));
        const ids = names.map((_, at) => withNewIds.firstId + BigInt(at));
        for (const id of ids) {
          if (created.has(Number(id))) violations.push(`the id ${id} was given twice`);
        }
        const corrected = names.map((name) => `${name}, corrected`);
        await correct(ids.map((id, at) => ({ id, name: corrected[at] ?? '', categoryId: 1n })));
        for (const [at, id] of ids.entries()) created.set(Number(id), corrected[at] ?? '');
        done += 1;
      } catch (error) {
        const failure = toFailure(error);
        if (failure !== undefined) failed.push({ names, isUnsure: failure.isUnsure });
      }
      await sleep(PAUSE_MS);
    }
  }

  const running = run().finally(() => store.close());
  return {
    violations,

    /** Resolves when the last one has ended. */
    async stop(): Promise<void> {
      isStopped = true;
      await running;
    },

    /** Asserts that an import which failed was kept whole, if nobody knew, or not at all. Tells how many there were. */
    assertWhole(kept: ReadonlySet<string>): string {
      for (const { names, isUnsure } of failed) {
        const count = names.filter((name) => kept.has(name)).length;
        const what = `${count} of ${names[0]}, which failed, are there`;
        assert.ok(count === 0 || (isUnsure && count === names.length), what);
      }
      return `, ${done} imports and corrections, ${failed.length} failed`;
    },
  };
}
