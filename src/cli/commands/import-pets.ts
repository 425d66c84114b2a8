/** `petstore pets import`: adds all pets of a file or none, with new ids or with the ids of the file. */

import { type Command, Option } from 'commander';
import { parseNewPet, parsePet } from '../../pet.ts';
import { parseRows } from '../../rows.ts';
import { fillStore } from '../../storage/open.ts';
import { databaseOption, formatOption } from '../options.ts';
import { countPets, examples, say, withProgress } from '../output.ts';
import { ENDINGS_HELP, type PetFile, readRows } from '../pet-file.ts';
import { describeStore, refuseMemory, type StoreOptions } from '../with-store.ts';

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
    .addOption(
      new Option(
        '--skip-existing',
        'keep the ids, and leave out pets that the store has with the same content',
      ).implies({ keepIds: true }),
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
    .action(importPets);
}

async function importPets(file: string, options: ImportOptions): Promise<void> {
  const { database, format, keepIds = false, skipExisting = false } = options;
  refuseMemory(database);
  await withProgress('imported', async (progress) => {
    const rows = progress.count(readRows({ file, format }));
    let hasNewIds = false;
    const parseNew = (value: unknown) => {
      const newPet = parseNewPet(value);
      hasNewIds ||= Object(value).id !== undefined;
      return newPet;
    };
    const { count, lastId, line } = await fillStore(database, async (store) => {
      const added = keepIds
        ? await store.pets.addAllWithIds(parseRows(rows, parsePet, say), skipExisting)
        : await store.pets.addAll(parseRows(rows, parseNew, say));
      return { ...added, line: describeStore(database, store) };
    });
    say(`imported ${countPets(count)}`);
    const skipped = progress.pets - count;
    if (skipped > 0) say(`${countPets(skipped)} left out: the store has them already`);
    if (hasNewIds) {
      const firstId = lastId - BigInt(count) + 1n;
      const ids = count === 1 ? `the new id ${lastId}` : `new ids ${firstId} to ${lastId}`;
      say(`${countPets(count)} added with ${ids}; the ids in the file were not kept`);
    }
    say(line);
  });
}
