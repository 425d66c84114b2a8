/** Adds many pets, all or none: with new ids, or with the ids that they have. */

import { PetstoreError } from '../error.ts';
import { INT64_MAX } from '../int64.ts';
import type { AddedPets, PetStore } from '../store.ts';
import type { Engine, Row, Transaction } from './engine.ts';
import { COLUMNS, toRow } from './pet-row.ts';

const ROWS_AT_ONCE = 1_000;

/** The most ids that a message names. */
const NAMED_IDS_MAX = 10;

const IS_SAME = COLUMNS.map((column) => `pets.${column} is not distinct from staged.${column}`);

/** SQL for whether the store has the pet of a staged row. For a join, PostgreSQL may read all pets of the store. */
const toExists = (...conditions: readonly string[]) =>
  `(select true from pets where ${['pets.id = staged.id', ...conditions].join(' and ')})`;

export function createImports(engine: Engine): Pick<PetStore, 'addAll' | 'addAllWithIds'> {
  return {
    addAll(newPets, { onlyFirst = false } = {}) {
      const rows = toBatches(newPets, (newPet, number) => [number, ...toRow(newPet)]);
      return engine.load(rows, async (transaction, staged) => {
        const lastId = await transaction.readLastId('pets');
        if (onlyFirst && lastId > 0n) return { count: 0, lastId };
        return move(transaction, staged, lastId);
      });
    },

    addAllWithIds(pets, skipSame) {
      const rows = toBatches(pets, (pet) => [pet.id, ...toRow(pet)]);
      return engine.load(rows, async (transaction, staged) => {
        await refuseRepeated(transaction, staged);
        if (skipSame) {
          await transaction.read(`delete from ${staged} as staged where ${toExists(...IS_SAME)}`);
        }
        await refuseExisting(transaction, staged, skipSame ? 'other pets' : 'pets');
        return move(transaction, staged, 0n);
      });
    },
  };
}

/** @param toStaged gets an item and its number, which counts up from 1n. */
async function* toBatches<Item>(
  items: AsyncIterable<Item>,
  toStaged: (item: Item, number: bigint) => Row,
): AsyncGenerator<Row[]> {
  let count = 0n;
  let batch: Row[] = [];
  for await (const item of items) {
    count += 1n;
    batch.push(toStaged(item, count));
    if (batch.length === ROWS_AT_ONCE) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** @throws PetstoreError `bad_request` when two of the pets have the same id. */
async function refuseRepeated({ read }: Transaction, staged: string): Promise<void> {
  const [row] = await read(
    `select id from ${staged} group by id having count(*) > 1 order by id limit 1`,
  );
  if (row) throw new PetstoreError('bad_request', `the id ${row[0]} is given twice`);
}

/** @throws PetstoreError `bad_request` when the store has pets with the ids of staged pets. */
async function refuseExisting({ read }: Transaction, staged: string, what: string): Promise<void> {
  const rows = await read(
    `select id from ${staged} as staged where ${toExists()} order by id limit ?`,
    NAMED_IDS_MAX,
  );
  if (rows.length === 0) return;
  const message = `the store has ${what} with the same ids, such as ${rows.join(', ')}`;
  throw new PetstoreError('bad_request', message);
}

/** Moves the staged pets to the table of pets, and adds `offset` to their ids. */
async function move(transaction: Transaction, staged: string, offset: bigint): Promise<AddedPets> {
  const { read, readLastId, writeLastId } = transaction;
  const [row] = await read(`select count(*), coalesce(max(id), 0) from ${staged}`);
  const [count, greatest] = row as [bigint, bigint];
  const lastId = greatest + offset;
  if (lastId > INT64_MAX) throw new PetstoreError('bad_request', 'not enough ids are left');
  await read(
    `insert into pets (id, ${COLUMNS}) select id + ?, ${COLUMNS} from ${staged} order by id`,
    offset,
  );
  if (lastId > (await readLastId('pets'))) await writeLastId('pets', lastId);
  return { count: Number(count), lastId };
}
