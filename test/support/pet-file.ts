/** Reads pet files as their tests do. */

import assert from 'node:assert/strict';
import { readRows } from '../../src/cli/pet-file/pet-file.ts';
import { PetstoreError } from '../../src/error.ts';
import { type NewPet, parseNewPet } from '../../src/pet.ts';
import { parseRow } from '../../src/rows.ts';

/** The pets of the file, up to the first row that is none. */
export async function* readGood(
  file: string,
  onRead?: (bytes: number) => void,
): AsyncGenerator<NewPet> {
  for await (const row of readRows({ file }, onRead)) {
    const pet = parseRow(row, parseNewPet);
    if (pet instanceof PetstoreError) throw pet;
    yield pet;
  }
}

export function refuses(file: () => Promise<unknown>, message: string | RegExp): Promise<void> {
  return assert.rejects(file, { name: 'PetstoreError', code: 'bad_request', message });
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
