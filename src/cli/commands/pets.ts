/** `petstore pets`: the group of commands, and its commands for single pets. */

import { text } from 'node:stream/consumers';
import type { Command, Option } from 'commander';
import { PetstoreError } from '../../error.ts';
import { findCanonicalInt64 } from '../../int64.ts';
import { NEW_PET_FIELDS, type NewPet, type Pet, toPetJson } from '../../pet.ts';
import { AFTER_PET, PAGE_LIMIT_DEFAULT, type PetQuery } from '../../pet-query.ts';
import type { IdRange, PetStore, Store } from '../../store.ts';
import {
  countParser,
  createIdError,
  jsonOption,
  listQueryOptions,
  newPetOptions,
  petChangeOptions,
  UsageError,
} from '../options.ts';
import { addExamples, countPets, say, toCorrectionTable, toPetTable } from '../output.ts';
import { print, printUndo } from '../standard-output.ts';
import { addStoreCommand, type PrintOptions, READS, withStore } from '../with-store.ts';

/** The new values of fields. `false` removes the value. */
type UpdateOptions = PrintOptions & { readonly [Name in keyof NewPet]?: NewPet[Name] | false };

const PET_ID = 'the id that pets list shows';
const REMOVED_IDS =
  'ids, and ranges such as 10-20, which may have gaps; - reads them from standard input';

export function addPets(program: Command): Command {
  const pets = addExamples(
    program.command('pets'),
    'petstore pets list',
    'petstore pets import pets.csv',
  ).description('list, get, add, correct, remove, import, export and generate pets');
  const add = (name: string, description: string, example: string, options: Option[] = []) => {
    const command = addStoreCommand(pets, name, `petstore pets ${name} ${example}`);
    for (const option of [...options, jsonOption()]) command.addOption(option);
    return command.description(description);
  };
  add('list', 'list pets by id', '--status sold --after 20', listQueryOptions())
    .option('--limit <count>', 'the most pets to list', countParser(1, 1_000), PAGE_LIMIT_DEFAULT)
    .option('--after <id>', AFTER_PET, parsePetId)
    .action(withStore(showPets, READS));
  add('get', 'print a pet', '7')
    .argument('<id>', PET_ID, parsePetId)
    .action(withStore(showPet, READS));
  add('add', 'add a pet', '--name Rex --category-id 3 --status sold', newPetOptions()).action(
    withStore(addPet, { create: true }),
  );
  add('update', 'correct a pet, and print what it was and is', '7 --no-status', petChangeOptions())
    .argument('<id>', PET_ID, parsePetId)
    .hook('preAction', (update) => checkChanges(update.opts()))
    .action(withStore(updatePet));
  add('remove', 'remove pets for ever, all or none, and print what they were', '7 10-20')
    .argument('<ids...>', REMOVED_IDS)
    .option('--dry-run', 'only print what would be removed')
    .hook('preAction', (remove) => readIds(remove.processedArgs[0]))
    .action(withStore(removePets));
  return pets;
}

function parsePetId(text: string): bigint {
  const id = findCanonicalInt64(text);
  if (id === undefined) throw createIdError('pet', text);
  return id;
}

function parseIdRange(text: string): IdRange {
  const [first = text, last = first] = /^\d+-\d+$/.test(text) ? text.split('-') : [];
  const range = { first: parsePetId(first), last: parsePetId(last) };
  if (range.first <= range.last) return range;
  throw new UsageError(`Invalid range '${text}': the smaller id comes first.`);
}

async function showPets(store: Store, options: PrintOptions & PetQuery): Promise<void> {
  const { json, database, ...query } = options;
  const { pets, next } = await store.pets.list(query);
  if (json) await print(`[${pets.map(toPetJson)}]\n`);
  else if (pets.length > 0) await print(await toPetTable(pets));
  else say('No pets.');
  if (next !== undefined) say(`There are more: --after ${next} lists them.`);
}

async function showPet({ pets }: Store, id: bigint, options: PrintOptions): Promise<void> {
  await printPet(await getStored(pets, id), options);
}

async function addPet({ pets }: Store, options: PrintOptions & NewPet): Promise<void> {
  await printPet(await pets.add(options), options, 'is added');
}

async function readIds(ids: string[]): Promise<void> {
  if (ids.includes('-')) ids.push(...(await text(process.stdin)).split(/[\s,;]+/));
}

async function removePets(
  { pets }: Store,
  ids: readonly string[],
  { json, dryRun }: PrintOptions,
): Promise<void> {
  const ranges = ids.filter((word) => word !== '-' && word !== '').map(parseIdRange);
  const removed = await pets.remove(ranges, dryRun || json);
  if (json) await printUndo(removed.map(toPetJson));
  else await print(await toPetTable(removed));
  const [first] = removed;
  if (dryRun) return say(`would be removed: ${countPets(removed.length)}; nothing was changed`);
  if (json) await pets.remove(ranges, false, removed);
  if (removed.length === 1) say(`Pet ${first?.id} is removed: no create gets its id again.`);
  else say(`${countPets(removed.length)} are removed: no create gets their ids again.`);
}

function checkChanges(options: UpdateOptions): void {
  if (NEW_PET_FIELDS.some(({ name }) => options[name] !== undefined)) return;
  const flags = petChangeOptions().map(({ long }) => long);
  throw new UsageError(`nothing to change: give one of ${flags.join(', ')}`);
}

async function updatePet({ pets }: Store, id: bigint, options: UpdateOptions): Promise<void> {
  const old = await getStored(pets, id);
  const newPet: Record<string, unknown> = {};
  for (const { name } of NEW_PET_FIELDS) {
    const value = options[name] ?? old[name];
    newPet[name] = value === false ? undefined : value;
  }
  const pet = await pets.update(old, newPet as unknown as NewPet);
  const json = `{"was":${toPetJson(old)},"is":${toPetJson(pet)}}\n`;
  await print(options.json ? json : await toCorrectionTable([{ was: old, is: pet }]));
  say(`Pet ${id} has the given values: every running service shows them from now on.`);
}

async function getStored(pets: PetStore, id: bigint): Promise<Pet> {
  const pet = await pets.find(id);
  if (pet === undefined) throw new PetstoreError('not_found', `there is no pet ${id}`);
  return pet;
}

async function printPet(pet: Pet, { json }: PrintOptions, done?: string): Promise<void> {
  await print(json ? `${toPetJson(pet)}\n` : await toPetTable([pet]));
  if (done !== undefined) say(`Pet ${pet.id} ${done}.`);
}
