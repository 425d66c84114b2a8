/** `petstore pets import`: adds all pets of a file, with new ids or with those of the file, or none. */

import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { PetstoreError } from '../../error.ts';
import { parseNewPet, parsePet } from '../../pet.ts';
import { fillStore } from '../../storage/open.ts';
import type { PetStore } from '../../store.ts';
import { databaseOption, formatOption, importOptions, UsageError } from '../options.ts';
import { examples } from '../output.ts';
import { ENDINGS_HELP, type PetFile, readRows } from '../pet-file/pet-file.ts';
import { refuseWrong } from '../pet-file/refuse-wrong.ts';
import type { OnRead } from '../pet-file/text.ts';
import { countPets, Progress, type ProgressStream } from '../progress.ts';
import { describeStore, refuseMemory, type StoreOptions } from '../with-store.ts';

const RUNNING_SERVICE_NOTE = `
The service may run meanwhile. Its creates wait for the end of the import, and may be 503.
With --keep-ids, pets can appear before the page that a client has reached. To see them, it
lists from the start.`;

interface ImportOptions extends StoreOptions, PetFile {
  readonly keepIds?: boolean;
  readonly skipExisting?: boolean;
}

/** The pets of the file, each made by the parser. */
type ReadFile = <Parsed>(parse: (value: unknown, place: string) => Parsed) => AsyncIterable<Parsed>;

export function addImportPets(pets: Command): void {
  const command = pets
    .command('import')
    .description('add all pets of a file, or none when a row is wrong')
    .argument('<file>', `${ENDINGS_HELP}; - is standard input`);
  for (const option of [...importOptions(), formatOption(), databaseOption()]) {
    command.addOption(option);
  }
  command
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
  if (skipExisting && !keepIds) throw new UsageError('--skip-existing needs --keep-ids');
  refuseMemory(database);
  const progress = new Progress(stderr);
  const onRead = await showPart(progress, file);
  const read: ReadFile = (parse) => refuseWrong(readRows(options, onRead), parse, progress, stderr);
  try {
    const lines = await fillStore(database, async (store) => [
      await (keepIds
        ? addWithIds(store.pets, read, progress, skipExisting)
        : addWithNewIds(store.pets, read)),
      `${describeStore(database, store)}\n`,
    ]);
    progress.finish('imported');
    stderr.write(lines.join(''));
  } catch (cause) {
    progress.clear();
    if (!(cause instanceof PetstoreError)) throw cause;
    throw new PetstoreError(cause.code, `${cause.message}; nothing was imported`, { cause });
  }
}

/** Resolves to a line about the new ids when the file has ids; else to no line. */
async function addWithNewIds(pets: PetStore, read: ReadFile): Promise<string> {
  let hasIds = false;
  const { count, lastId } = await pets.addAll(
    read((value) => {
      const newPet = parseNewPet(value);
      hasIds ||= Object(value).id !== undefined;
      return newPet;
    }),
  );
  if (!hasIds) return '';
  const firstId = lastId - BigInt(count) + 1n;
  const ids = count === 1 ? `the new id ${lastId}` : `new ids ${firstId} to ${lastId}`;
  return `${countPets(count)} added with ${ids}; the ids in the file were not kept\n`;
}

/** Resolves to a line about the pets that were left out; to no line when there are none. */
async function addWithIds(
  pets: PetStore,
  read: ReadFile,
  progress: Progress,
  skipExisting: boolean,
): Promise<string> {
  const { count } = await pets.addAllWithIds(
    read((value, place) => ({ pet: parsePet(value), place })),
    skipExisting,
  );
  const skipped = progress.pets - count;
  progress.pets = count;
  if (skipped === 0) return '';
  return `${countPets(skipped)} left out, which the store has already\n`;
}

async function showPart(progress: Progress, file: string): Promise<OnRead> {
  // If this fails, reading the file tells the error. A pipe has the size 0.
  const { size } = await stat(file).catch(() => ({ size: 0 }));
  let bytesRead = 0;
  return (bytes) => {
    bytesRead += bytes;
    if (size > 0) progress.part = bytesRead / size;
  };
}
