/** The commands `pets import` and `pets export`; the formats of the files are not known here. */

import { stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { PetstoreError } from '../../error.ts';
import type { Pet } from '../../pet.ts';
import type { Store } from '../../store.ts';
import { readPets, writePets } from '../pet-file/pet-file.ts';
import { Progress, type ProgressStream } from '../progress.ts';

/** More than a client may ask for, since a page is also a trip to the database. */
const EXPORT_PAGE_PETS = 1_000;

/**
 * Adds all the animals of the file to the store, or none.
 *
 * @throws PetstoreError whose message says why nothing was imported.
 */
export async function importPets(
  store: Store,
  file: string,
  stderr: ProgressStream,
): Promise<void> {
  const progress = new Progress(stderr, 'imported');
  const bytesTotal = await findFileBytes(file);
  let bytesRead = 0;
  try {
    const pets = readPets(file, (bytes) => {
      bytesRead += bytes;
      if (bytesTotal > 0) progress.setPart(bytesRead / bytesTotal);
    });
    await store.pets.addAll(count(pets, progress));
  } catch (cause) {
    progress.clear();
    if (!(cause instanceof PetstoreError)) throw cause;
    throw new PetstoreError(cause.code, `${cause.message}; nothing was imported`, { cause });
  }
  progress.finish();
}

/**
 * Writes all the animals of the store to the file, or to standard output; then standard error stays
 * silent, for both may be the same terminal.
 *
 * @throws PetstoreError when the file cannot be written; what stood there before is left as it was.
 */
export async function exportPets(
  store: Store,
  file: string | undefined,
  stdout: Writable,
  stderr: ProgressStream,
): Promise<void> {
  if (file === undefined) return writePets(undefined, listAll(store), stdout);
  const progress = new Progress(stderr, 'exported');
  try {
    await writePets(file, count(listAll(store), progress), stdout);
  } catch (cause) {
    progress.clear();
    throw cause;
  }
  progress.finish();
}

async function* listAll(store: Store): AsyncGenerator<Pet> {
  let after: bigint | undefined;
  do {
    const page = await store.pets.list({
      limit: EXPORT_PAGE_PETS,
      ...(after === undefined ? {} : { after }),
    });
    yield* page.pets;
    after = page.next;
  } while (after !== undefined);
}

async function* count<T>(pets: AsyncIterable<T>, progress: Progress): AsyncGenerator<T> {
  for await (const pet of pets) {
    progress.addAnimals(1);
    yield pet;
  }
}

/** 0 when that cannot be told: reading it will say why. */
async function findFileBytes(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
