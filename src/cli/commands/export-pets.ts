/** `petstore pets export` and `generate`: the pets of a store, and samples, as files. */

import type { Command } from 'commander';
import type { Pet } from '../../pet.ts';
import { generatePets } from '../../sample.ts';
import type { Store } from '../../store.ts';
import { countParser, databaseOption, formatOption } from '../options.ts';
import { countPets, examples, say, withProgress } from '../output.ts';
import { ENDINGS_HELP, type PetFile, writePets } from '../pet-file.ts';
import { withStore } from '../with-store.ts';

const SPREADSHEET_NOTE = `
A spreadsheet program runs a CSV cell that begins with =, +, - or @ as a formula.
Import the file there with the column "name" as text.`;

/** More than a client may ask for, because each page is a query. */
const EXPORT_PAGE_LIMIT = 1_000;

export function addExportPets(pets: Command): void {
  pets
    .command('export')
    .description('write all pets to a file, which is replaced, or as NDJSON to standard output')
    .argument('[file]', ENDINGS_HELP)
    .addOption(formatOption())
    .addOption(databaseOption())
    .addHelpText('after', SPREADSHEET_NOTE)
    .addHelpText('after', examples('petstore pets export pets.json'))
    .action(
      withStore((store, file: string | undefined, options: PetFile) =>
        exportPets(store, { ...options, file }),
      ),
    );
  pets
    .command('generate')
    .description('write sample pets to standard output, always the same')
    .option('--count <count>', 'the number of pets', countParser(0, 1_000_000_000), 100)
    .addOption(formatOption().default('ndjson'))
    .addHelpText(
      'after',
      examples('petstore pets generate --count 1000 | petstore pets import - --format ndjson'),
    )
    .action(({ count, format }: PetFile & { count: number }) =>
      writePets({ format }, generatePets(count)),
    );
}

/** Shows no progress if the pets go to standard output: both may be the same terminal. */
async function exportPets(store: Store, target: PetFile): Promise<void> {
  if (target.file === undefined) return writePets(target, listAll(store));
  await withProgress('exported', async (progress) => {
    await writePets(target, progress.count(listAll(store)));
    say(`exported ${countPets(progress.pets)}`);
  });
}

async function* listAll(store: Store): AsyncGenerator<Pet> {
  let after: bigint | undefined;
  do {
    const page = await store.pets.list({ limit: EXPORT_PAGE_LIMIT, after });
    yield* page.pets;
    after = page.next;
  } while (after !== undefined);
}
