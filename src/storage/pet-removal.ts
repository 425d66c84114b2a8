/** Removes many pets: all of them, or none. */

import { isDeepStrictEqual } from 'node:util';
import { PetstoreError } from '../error.ts';
import type { Pet } from '../pet.ts';
import type { LongWork } from '../store.ts';
import type { Engine } from './engine.ts';
import { PET_COLUMNS, SELECT, toPet } from './pet-row.ts';

/** SQLite takes at most 1,000 levels of an expression. */
const RANGES_AT_ONCE = 500;

export function createRemove({ longTransaction }: Engine): LongWork['remove'] {
  return (ranges, dryRun = false, only = undefined) =>
    longTransaction(dryRun ? 'snapshot' : 'shared', async ({ read }) => {
      const pets = new Map<bigint, Pet>();
      for (let at = 0; at < ranges.length; at += RANGES_AT_ONCE) {
        const part = ranges.slice(at, at + RANGES_AT_ONCE);
        const where = `where ${part.map(() => 'id between ? and ?').join(' or ')}`;
        const remove = `delete from pets ${where} returning ${PET_COLUMNS}`;
        const values = part.flatMap(({ first, last }) => [first, last]);
        const rows = await read(dryRun ? `${SELECT} ${where}` : remove, ...values);
        for (const pet of rows.map(toPet)) pets.set(pet.id, pet);
      }
      for (const { first, last } of ranges) {
        if (pets.has(first) || pets.keys().some((id) => id >= first && id <= last)) continue;
        const range = first === last ? first : `${first}-${last}`;
        throw new PetstoreError('not_found', `there is no pet ${range}`);
      }
      const removed = [...pets.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
      if (only && !isDeepStrictEqual(removed, only)) {
        const message = 'the pets changed while they were printed: none is removed';
        throw new PetstoreError('conflict', message);
      }
      return removed;
    });
}
