/** `petstore pets export` and `generate`: the pets of a store, and samples, as files. */

import type { Writable } from 'node:stream';
import type { Command } from 'commander';
import type { Pet } from '../../pet.ts';
import { generatePets, type SampleOptions } from '../../sample.ts';
import type { Store } from '../../store.ts';
import { countOption, databaseOption, formatOption, seedOption } from '../options.ts';
import { examples } from '../output.ts';
import { ENDINGS_HELP, type TargetFile, writePets } from '../pet-file/pet-file.ts';
import { Progress, type ProgressStream } from '../progress.ts';
import { type StoreOptions, withStore } from '../with-store.ts';

const SPREADSHEET_NOTE = `
A spreadsheet program runs a CSV cell that begins with =, +, - or @ as a formula.
Import the file there with the column "name" as text.`;

/** More than a client may ask for: each page is a query to the database. */
const EXPORT_PAGE_LIMIT = 1_000;

export function addExportPets(pets: Command): void {
  pets
    .command('export')
    .description(
      'write all pets to a file, which is replaced, or to standard output, as NDJSON by default',
    )
    .argument('[file]', ENDINGS_HELP)
    .addOption(formatOption())
    .addOption(databaseOption())
    .addHelpText('after', SPREADSHEET_NOTE)
    .addHelpText('after', examples('petstore pets export pets.json'))
    .action((file: string | undefined, options: StoreOptions & TargetFile) =>
      withStore(options, (store) =>
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
    .action((options: SampleOptions & TargetFile) =>
      writePets(options, generatePets(options), process.stdout),
    );
}

/** Prints no progress beside pets on standard output: both may be the same terminal. */
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
    const page = await store.pets.list({ limit: EXPORT_PAGE_LIMIT, after });
    yield* page.pets;
    after = page.next;
  } while (after !== undefined);
}

async function* showEach(pets: AsyncIterable<Pet>, total: number, progress: Progress) {
  for await (const pet of pets) {
    progress.pets += 1;
    progress.part = progress.pets / total;
    progress.show('exported');
    yield pet;
  }
}
