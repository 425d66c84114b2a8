/** Reads pet files as their tests do. */

import assert from 'node:assert/strict';
import { type PetFileOptions, readRows } from '../../src/cli/pet-file.ts';
import { type NewPet, parsePetRow } from '../../src/pet.ts';
import { parseRows } from '../../src/rows.ts';

/** The pets of the file. Fails at its end if a row is wrong. */
export function readGood(file: string, format?: PetFileOptions['format']): AsyncGenerator<NewPet> {
  const rows = readRows({ file, format, ignoreColumns: true });
  return parseRows(rows, parsePetRow, () => undefined);
}

export function refuses(file: () => Promise<unknown>, message: string | RegExp): Promise<void> {
  return assert.rejects(file, { name: 'PetstoreError', code: 'bad_request', message });
}
