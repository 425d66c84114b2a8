/** `petstore pets import` and `petstore pets export`: pets from a file and to one. */

import { stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import type { Command } from 'commander';
import { PetstoreError } from '../../error.ts';
import type { NewPet, Pet } from '../../pet.ts';
import type { Store } from '../../store.ts';
import { databaseOption } from '../options.ts';
import { examples } from '../output.ts';
import { readPets, writePets } from '../pet-file/pet-file.ts';
import { Progress, type ProgressStream } from '../progress.ts';
import { type StoreOptions, withStore } from '../with-store.ts';

/** More than a client may ask for: each page is a query to the database. */
const EXPORT_PAGE_LIMIT = 1_000;

/** Adds its commands to those of `pets`. */
export function addPetFiles(pets: Command): void {
  const formats = 'its ending names the format: .ndjson (or .jsonl), .json or .csv';
  pets
    .command('import')
    .description('add all pets of a file, or none when a row is wrong')
    .argument('<file>', formats)
    .addOption(databaseOption())
    .addHelpText('after', examples('petstore pets import pets.csv'))
    .action((file: string, options: StoreOptions) =>
      withStore(options, { create: true }, (store) => importPets(store, file, process.stderr)),
    );
  pets
    .command('export')
    .description('write all pets to a file, or as NDJSON to standard output')
    .argument('[file]', formats)
    .addOption(databaseOption())
    .addHelpText('after', examples('petstore pets export pets.json'))
    .action((file: string | undefined, options: StoreOptions) =>
      withStore(options, { create: false }, (store) =>
        exportPets(store, file, process.stdout, process.stderr),
      ),
    );
}

/**
 * Adds all pets of the file to the store, or none, and prints its progress.
 *
 * @throws PetstoreError whose message says why nothing was imported.
 */
export async function importPets(
  store: Store,
  file: string,
  stderr: ProgressStream,
): Promise<void> {
  const progress = new Progress(stderr, 'imported');
  const fileBytes = await findFileBytes(file);
  let bytesRead = 0;
  try {
    const pets = readPets(file, (bytes) => {
      bytesRead += bytes;
      if (fileBytes !== undefined) progress.setPart(bytesRead / fileBytes);
    });
    await store.pets.addAll(countRead(pets, progress));
  } catch (cause) {
    progress.clear();
    if (!(cause instanceof PetstoreError)) throw cause;
    throw new PetstoreError(cause.code, `${cause.message}; nothing was imported`, { cause });
  }
  progress.finish();
}

/**
 * Writes all pets of the store to the file and prints its progress; or to standard output, without
 * progress, since both may be the same terminal.
 *
 * @throws PetstoreError when the file cannot be written; an existing one is unchanged then.
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
    progress.setPhase('exported', await store.pets.count());
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
      limit: EXPORT_PAGE_LIMIT,
      ...(after === undefined ? {} : { after }),
    });
    yield* page.pets;
    after = page.next;
  } while (after !== undefined);
}

/** Read to the end, the pets are committed, which takes a while when they are many. */
async function* countRead(pets: AsyncIterable<NewPet>, progress: Progress): AsyncGenerator<NewPet> {
  yield* count(pets, progress);
  progress.setPhase('committing');
}

async function* count<T>(pets: AsyncIterable<T>, progress: Progress): AsyncGenerator<T> {
  for await (const pet of pets) {
    progress.addPets(1);
    yield pet;
  }
}

/** The size of the file; undefined when it is unknown or 0, as for a pipe. Reading it will tell an error. */
async function findFileBytes(file: string): Promise<number | undefined> {
  return stat(file).then(
    ({ size }) => size || undefined,
    () => undefined,
  );
}
