/** `petstore pets import`, `export` and `generate`: pets from a file, to one, and samples of them. */

import { stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import type { Command } from 'commander';
import { PetstoreError } from '../../error.ts';
import type { NewPet, Pet } from '../../pet.ts';
import { type PetRow, RowError } from '../../rows.ts';
import type { Store } from '../../store.ts';
import { countOption, databaseOption, formatOption, seedOption } from '../options.ts';
import { examples, toOneLine } from '../output.ts';
import { type PetFile, readPets, type TargetFile, writePets } from '../pet-file/pet-file.ts';
import { generatePets } from '../pet-file/sample.ts';
import { Progress, type ProgressStream } from '../progress.ts';
import { type StoreOptions, withStore } from '../with-store.ts';

const SPREADSHEET_NOTE = `
A spreadsheet program runs a CSV cell that begins with =, +, - or @ as a formula.
Import the file there with the column "name" as text.`;

/** More than a client may ask for: each page is a query to the database. */
const EXPORT_PAGE_LIMIT = 1_000;

/** The wrong rows of a file that are shown; the others are counted. */
const WRONG_ROWS_MAX = 20;

type FileOptions = StoreOptions & Pick<PetFile, 'format'>;

/** Adds its commands to those of `pets`. */
export function addPetFiles(pets: Command): void {
  const formats = 'its ending names the format: .ndjson (or .jsonl), .json or .csv';
  pets
    .command('import')
    .description('add all pets of a file with new ids, or none when a row is wrong')
    .argument('<file>', `${formats}; - is standard input`)
    .addOption(formatOption())
    .addOption(databaseOption())
    .addHelpText(
      'after',
      examples('petstore pets import pets.csv', 'petstore pets import - --format csv < pets.txt'),
    )
    .action((file: string, options: FileOptions) =>
      withStore(options, { create: true }, (store) =>
        importPets(store, { ...options, file }, process.stderr),
      ),
    );
  pets
    .command('export')
    .description(
      'write all pets to a file, which is replaced, or to standard output, as NDJSON by default',
    )
    .argument('[file]', formats)
    .addOption(formatOption())
    .addOption(databaseOption())
    .addHelpText('after', SPREADSHEET_NOTE)
    .addHelpText('after', examples('petstore pets export pets.json'))
    .action((file: string | undefined, options: FileOptions) =>
      withStore(options, { create: false }, (store) =>
        exportPets(store, { ...options, file }, process.stdout, process.stderr),
      ),
    );
  pets
    .command('generate')
    .description('write sample pets to standard output, the same for the same seed')
    .addOption(countOption())
    .addOption(seedOption())
    .addOption(formatOption().default('ndjson'))
    .addHelpText(
      'after',
      examples('petstore pets generate --count 1000 | petstore pets import - --format ndjson'),
    )
    .action((options: { count: number; seed: number } & Pick<PetFile, 'format'>) =>
      writePets(options, generatePets(options), process.stdout),
    );
}

/**
 * Adds all pets of the file to the store, or none, and prints its progress, or the rows that are wrong.
 *
 * @throws PetstoreError whose message says why nothing was imported.
 */
export async function importPets(
  store: Store,
  petFile: PetFile,
  stderr: ProgressStream,
): Promise<void> {
  const progress = new Progress(stderr);
  const fileBytes = await findFileBytes(petFile.file);
  let bytesRead = 0;
  try {
    const rows = readPets(petFile, (bytes) => {
      bytesRead += bytes;
      if (fileBytes !== undefined) progress.part = bytesRead / fileBytes;
    });
    await store.pets.addAll(refuseWrong(rows, progress, stderr));
  } catch (cause) {
    progress.clear();
    if (!(cause instanceof PetstoreError)) throw cause;
    throw new PetstoreError(cause.code, `${cause.message}; nothing was imported`, { cause });
  }
  progress.finish('imported');
}

/**
 * Writes all pets of the store to the file and prints its progress; or to standard output, without
 * progress, since both may be the same terminal.
 *
 * @throws PetstoreError when the file cannot be written; an existing one is unchanged then.
 */
export async function exportPets(
  store: Store,
  petFile: TargetFile,
  stdout: Writable,
  stderr: ProgressStream,
): Promise<void> {
  if (petFile.file === undefined) return writePets(petFile, listAll(store), stdout);
  const progress = new Progress(stderr);
  try {
    const total = await store.pets.count();
    await writePets(petFile, showEach(listAll(store), total, progress), stdout);
  } catch (cause) {
    progress.clear();
    throw cause;
  }
  progress.finish('exported');
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

/**
 * The pets, up to the first wrong row: from there the rows are read for the other wrong ones alone.
 *
 * @throws PetstoreError for a single wrong row its own; of several, which are shown, their number; when
 *   the file cannot be read to its end, why.
 */
async function* refuseWrong(
  rows: AsyncIterable<PetRow>,
  progress: Progress,
  stderr: ProgressStream,
): AsyncGenerator<NewPet> {
  const shown: RowError[] = [];
  let wrong = 0;
  const refuse = (row: RowError) => {
    if (wrong < WRONG_ROWS_MAX) shown.push(row);
    wrong += 1;
  };
  try {
    for await (const row of rows) {
      progress.pets += 1;
      if (row instanceof RowError) refuse(row);
      progress.show(wrong === 0 ? 'imported' : 'checked');
      if (wrong === 0 && !(row instanceof RowError)) yield row;
    }
  } catch (cause) {
    if (!(cause instanceof RowError)) throw cause;
    refuse(cause);
  }
  if (wrong === 0) {
    // The database takes its time for many.
    progress.part = undefined;
    progress.show('committing');
    return;
  }
  const [first] = shown;
  if (first !== undefined && wrong === 1) throw first;
  progress.clear();
  for (const { message } of shown) stderr.write(`${toOneLine(message)}\n`);
  if (wrong > shown.length) stderr.write(`and ${wrong - shown.length} more\n`);
  throw new PetstoreError('bad_request', `${wrong} rows are wrong`);
}

async function* showEach(pets: AsyncIterable<Pet>, total: number, progress: Progress) {
  for await (const pet of pets) {
    progress.pets += 1;
    progress.part = progress.pets / total;
    progress.show('exported');
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
