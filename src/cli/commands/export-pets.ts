/** `petstore pets export` and `generate`: the pets of a store, and samples, as files. */

import { type Command, Option } from 'commander';
import { badRequest } from '../../error.ts';
import type { Pet } from '../../pet.ts';
import type { ListQuery } from '../../pet-query.ts';
import { generatePets } from '../../sample.ts';
import { isFileOf } from '../../storage/open.ts';
import type { Store } from '../../store.ts';
import { countParser, databaseOption, formatOption, listQueryOptions } from '../options.ts';
import { addExamples, countPets, say, withProgress } from '../output.ts';
import { ENDINGS_HELP, isStream, type PetFileOptions, writePets } from '../pet-file.ts';
import { type CommandOptions, READS, withStore } from '../with-store.ts';

const SPREADSHEET_NOTE = `
With --excel, ' is before each name and each long number: a spreadsheet keeps these as texts, and
runs no formula. The import takes this ' away again. Semicolons are between the cells. For a
spreadsheet that writes 1.5, and not 1,5, commas are better: --format excel-comma`;

/** More than a client may ask for, because each page is a query. */
const EXPORT_PAGE_LIMIT = 1_000;

type ExportOptions = PetFileOptions &
  Partial<ListQuery> &
  CommandOptions & { readonly excel?: boolean };

export function addExportPets(pets: Command): void {
  const command = addExamples(
    pets.command('export').addHelpText('after', SPREADSHEET_NOTE),
    'petstore pets export pets.json',
    'petstore pets export sold.csv --excel --status sold',
  )
    .description('write all pets to a file, which is replaced, or as NDJSON to standard output')
    .argument('[file]', `${ENDINGS_HELP}; - is standard output`)
    .addOption(new Option('--excel', 'CSV for Excel and LibreOffice').conflicts('format'))
    .addOption(formatOption())
    .addOption(databaseOption())
    .action(withStore(exportPets, READS));
  for (const option of listQueryOptions()) command.addOption(option);
  addExamples(
    pets.command('generate'),
    'petstore pets generate --count 1000 | petstore pets import - --format ndjson --by-id --database sqlite:samples.db',
  )
    .description('write sample pets to standard output, always the same')
    .option('--count <count>', 'the number of pets', countParser(0, 1_000_000_000), 100)
    .addOption(formatOption().default('ndjson'))
    .action(({ count, format }: PetFileOptions & { count: number }) =>
      writePets({ format }, generatePets(count)),
    );
}

/** Shows no progress for a stream: both may be the same terminal, and a reader may leave before the end. */
async function exportPets(
  store: Store,
  file: string | undefined,
  options: ExportOptions,
): Promise<void> {
  const target = { file, format: options.excel ? 'excel' : options.format } as const;
  if (isStream(file)) return writePets(target, listAll(store, options));
  await withProgress('exported', async (progress) => {
    if (file !== undefined && isFileOf(options.database, file)) {
      throw badRequest(`${file} is a file of the store itself: name another file`);
    }
    await writePets(target, progress.count(listAll(store, options)));
    say(`exported ${countPets(progress.pets)}`);
  });
}

async function* listAll(store: Store, query: Partial<ListQuery>): AsyncGenerator<Pet> {
  let after: bigint | undefined;
  do {
    const page = await store.pets.list({ ...query, limit: EXPORT_PAGE_LIMIT, after });
    yield* page.pets;
    after = page.next;
  } while (after !== undefined);
}
