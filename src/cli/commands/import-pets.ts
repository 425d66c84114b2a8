/** `petstore pets import`: adds all pets of a file or none, with new ids or with the ids of the file. */

import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { parseNewPet, parsePet } from '../../pet.ts';
import { fillStore } from '../../storage/open.ts';
import type { PetStore } from '../../store.ts';
import { databaseOption, formatOption, UsageError } from '../options.ts';
import {
  countPets,
  examples,
  type Progress,
  type ProgressStream,
  withProgress,
} from '../output.ts';
import { ENDINGS_HELP, type PetFile, readRows } from '../pet-file/pet-file.ts';
import { refuseWrong } from '../pet-file/read.ts';
import { describeStore, refuseMemory, type StoreOptions } from '../with-store.ts';

type Rows = ReturnType<typeof readRows>;

const RUNNING_SERVICE_NOTE = `
The service may run meanwhile. Its creates wait for the end of the import, and may be 503.
With --keep-ids, pets can appear before the page that a client has reached. To see these pets,
the client lists from the start.`;

interface ImportOptions extends StoreOptions, PetFile {
  readonly keepIds?: boolean;
  readonly skipExisting?: boolean;
}

export function addImportPets(pets: Command): void {
  pets
    .command('import')
    .description('add all pets of a file, or none if a row is wrong')
    .argument('<file>', `${ENDINGS_HELP}; - is standard input`)
    .option('--keep-ids', 'keep the ids of the file, which is refused if the store has one of them')
    .option(
      '--skip-existing',
      'with --keep-ids, leave out pets that the store has with the same content',
    )
    .addOption(formatOption())
    .addOption(databaseOption())
    .addHelpText('after', RUNNING_SERVICE_NOTE)
    .addHelpText(
      'after',
      examples(
        'petstore pets import pets.csv',
        'petstore pets import exported.csv --keep-ids',
        'petstore pets import - --format csv < pets.txt',
      ),
    )
    .action((file: string, options: Omit<ImportOptions, 'file'>) =>
      importPets({ ...options, file }, process.stderr),
    );
}

export async function importPets(options: ImportOptions, stderr: ProgressStream): Promise<void> {
  const { database, file, keepIds = false, skipExisting = false } = options;
  if (skipExisting && !keepIds) throw new UsageError("option '--skip-existing' needs --keep-ids");
  refuseMemory(database);
  await withProgress(stderr, 'imported', async (progress) => {
    // If this fails, reading the file tells why. A pipe has the size 0.
    const { size } = await stat(file).catch(() => ({ size: 0 }));
    let bytesRead = 0;
    const rows = readRows(options, (bytes) => {
      bytesRead += bytes;
      if (size > 0) progress.part = bytesRead / size;
    });
    const lines = await fillStore(database, async (store) => [
      ...(keepIds
        ? await addWithIds(store.pets, rows, progress, skipExisting)
        : await addWithNewIds(store.pets, rows, progress)),
      describeStore(database, store),
    ]);
    progress.finish('imported');
    for (const line of lines) progress.say(line);
  });
}

/** Resolves to a line about the new ids if the file has ids. */
async function addWithNewIds(pets: PetStore, rows: Rows, progress: Progress): Promise<string[]> {
  let hasIds = false;
  const parse = (value: unknown) => {
    const newPet = parseNewPet(value);
    hasIds ||= Object(value).id !== undefined;
    return newPet;
  };
  const { count, lastId } = await pets.addAll(refuseWrong(rows, parse, progress));
  if (!hasIds) return [];
  const firstId = lastId - BigInt(count) + 1n;
  const ids = count === 1 ? `the new id ${lastId}` : `new ids ${firstId} to ${lastId}`;
  return [`${countPets(count)} added with ${ids}; the ids in the file were not kept`];
}

/** Resolves to a line about the pets that were left out, if there are any. */
async function addWithIds(
  pets: PetStore,
  rows: Rows,
  progress: Progress,
  skipExisting: boolean,
): Promise<string[]> {
  const parse = (value: unknown, place: string) => ({ pet: parsePet(value), place });
  const { count } = await pets.addAllWithIds(refuseWrong(rows, parse, progress), skipExisting);
  const skipped = progress.pets - count;
  progress.pets = count;
  if (skipped === 0) return [];
  return [`${countPets(skipped)} left out: the store has them already`];
}
