/** `petstore pets import`: adds or corrects the pets of a file, all of them or none. */

import { type Command, Option } from 'commander';
import { badRequest } from '../../error.ts';
import { GIVEN_PET_FIELDS, parsePetRow } from '../../pet.ts';
import { COMPARED_PETS, parseRows } from '../../rows.ts';
import { fillStore } from '../../storage/open.ts';
import type { AddedPets, Corrections, MergedPets, MergeOptions } from '../../store.ts';
import { refuseLoss, tellCorrections } from '../corrections.ts';
import { databaseOption, formatOption } from '../options.ts';
import { addExamples, countPets, say, withProgress } from '../output.ts';
import { ENDINGS_HELP, isCsv, type PetFileOptions, readRows } from '../pet-file.ts';
import { describeStore, type PrintOptions } from '../with-store.ts';

const NOTES = `
The service may run meanwhile. On SQLite, or with --by-id, its creates wait for the end of the
import, and may be 503. With --by-id, pets can appear before the page that a client has
reached. To see these pets, the client lists from the start.

With --update the file takes precedence: a pet that was changed since the export loses this change.
The import tells if the store already has the first ${COMPARED_PETS} pets without an id: the file may have been
added before. An import with new ids prints these ids: "pets remove" undoes it.`;

const OPTIONAL = GIVEN_PET_FIELDS.flatMap(({ name, optional }) => (optional ? name : []));

interface ImportOptions extends PrintOptions, Omit<PetFileOptions, 'update'>, MergeOptions {
  readonly byId?: boolean;
}

export function addImportPets(pets: Command): void {
  addExamples(
    pets.command('import').addHelpText('after', NOTES),
    'petstore pets import pets.csv',
    'petstore pets import corrected.csv --update --dry-run',
    'petstore pets import - --format csv < pets.txt',
  )
    .description('add all pets of a file, or none if a row is wrong')
    .argument('<file>', `${ENDINGS_HELP}; - is standard input`)
    .option(
      '--by-id',
      'keep the ids of the file; a pet that the store has already must be the same',
    )
    .addOption(
      new Option('--update', 'as --by-id, and correct the pets that differ').implies({
        byId: true,
      }),
    )
    .option('--dry-run', 'only say what would be done')
    .option('--json', 'print corrected pets as they were: --update of this undoes it', false)
    .option('--ignore-columns', 'leave out the columns of a CSV file that no pet has')
    .addOption(formatOption())
    .addOption(databaseOption())
    .action(importPets);
}

async function importPets(file: string, options: ImportOptions): Promise<void> {
  await withProgress('imported', async (progress) => {
    const petFile = { ...options, file };
    const rows = readRows(petFile);
    let missing = isCsv(petFile) ? OPTIONAL : [];
    let hasOtherIds = false;
    const parse = (value: unknown) => {
      const lacks = OPTIONAL.filter((name) => Object(value)[name] === undefined);
      missing = missing.filter((name) => lacks.includes(name));
      hasOtherIds ||= !options.byId && Boolean(Object(value).id);
      return { ...parsePetRow(value, options.byId), lacks };
    };
    const onSame = (id: bigint) =>
      say(`the first rows of the file are in the store already, from the id ${id} on`);
    const onCorrections = async (corrections: Corrections) => {
      refuseLoss(corrections, missing);
      await tellCorrections(corrections, options.json);
    };
    const pets = parseRows(progress.count(rows), parse, say);
    const onCommit = (added: AddedPets) => {
      progress.isCommitting = true;
      progress.look = tellLook(added, options);
    };
    const merged = await fillStore(options.database, options.dryRun, async (store, isNew) => {
      const told = { onSame, onCorrections, ...(!isNew && { onCommit }) };
      const done = await store.pets.merge(pets, { ...options, ...told });
      if (progress.pets === 0) throw badRequest('the file has no pets');
      return { ...done, store: describeStore(options.database, store, options.dryRun) };
    });
    tellMerged(merged, options);
    if (hasOtherIds) say('the ids in the file were not kept: --by-id keeps them');
    say(merged.store);
  });
}

/** How to see whether the import was done. Without --json: its output would take the place of what undoes the import. */
function tellLook({ count, firstId, lastId }: AddedPets, options: ImportOptions): string {
  const ids = `${firstId}-${lastId}`;
  const list = `pets list --after ${firstId - 1n} shows the new pets as ${ids} if so, and pets remove ${ids} removes them`;
  const flag = options.update ? '--update' : '--by-id';
  const dryRun = `pets import FILE ${flag} --dry-run counts each pet with an id as unchanged if so; keep what was printed`;
  return [...(count > 0 ? [list] : []), ...(options.byId ? [dryRun] : [])].join('; ');
}

function tellMerged(merged: MergedPets, { byId, dryRun }: ImportOptions): void {
  const { added, corrected, unchanged, withNewIds } = merged;
  const [a, c, u] = [added, corrected, unchanged].map((count) => count.toLocaleString('en-US'));
  const counts = byId
    ? `${a} added, ${c} corrected, ${u} unchanged`
    : `imported ${countPets(added)}`;
  say(dryRun ? `would be: ${counts}; nothing was changed` : counts);
  const { count, firstId, lastId } = withNewIds;
  if (count === 1) say(`new id ${lastId}`);
  if (count > 1) say(`new ids ${firstId} to ${lastId}`);
}
