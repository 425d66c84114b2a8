/** `petstore pets import`: adds all pets of a file, or none when a row is wrong. */

import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { PetstoreError } from '../../error.ts';
import { type NewPet, parseNewPet } from '../../pet.ts';
import { type PetRow, RowError } from '../../rows.ts';
import type { Store } from '../../store.ts';
import { databaseOption, formatOption } from '../options.ts';
import { examples, toOneLine } from '../output.ts';
import { ENDINGS_HELP, type PetFile, readPets, type TargetFile } from '../pet-file/pet-file.ts';
import { Progress, type ProgressStream } from '../progress.ts';
import { type StoreOptions, withStore } from '../with-store.ts';

/** The wrong rows of a file that are shown; the others are counted. */
const WRONG_ROWS_MAX = 20;

export function addImportPets(pets: Command): void {
  pets
    .command('import')
    .description('add all pets of a file with new ids, or none when a row is wrong')
    .argument('<file>', `${ENDINGS_HELP}; - is standard input`)
    .addOption(formatOption())
    .addOption(databaseOption())
    .addHelpText(
      'after',
      examples('petstore pets import pets.csv', 'petstore pets import - --format csv < pets.txt'),
    )
    .action((file: string, options: StoreOptions & TargetFile) =>
      withStore(options, { create: true }, (store) =>
        importPets(store, { ...options, file }, process.stderr),
      ),
    );
}

/** @throws PetstoreError whose message says why nothing was imported. */
export async function importPets(
  store: Store,
  petFile: PetFile,
  stderr: ProgressStream,
): Promise<void> {
  const progress = new Progress(stderr);
  const fileBytes = await findFileBytes(petFile.file);
  let bytesRead = 0;
  try {
    const rows = readPets(petFile, parseNewPet, (bytes) => {
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

/** The size of the file; undefined when it is unknown or 0, as for a pipe. Reading it will tell an error. */
async function findFileBytes(file: string): Promise<number | undefined> {
  const found = await stat(file).catch(() => undefined);
  return found?.size || undefined;
}
