/** Adds many pets, all or none: with new ids, or with the ids that they have. */

import { randomUUID } from 'node:crypto';
import { badRequest, unavailable } from '../error.ts';
import { INT64_MAX } from '../int64.ts';
import { type GivenPet, toPetJson } from '../pet.ts';
import { COMPARED_PETS } from '../rows.ts';
import type { AddedPets, LongWork } from '../store.ts';
import type { Engine, Row, Session, Transaction } from './engine.ts';
import { areSame, correct, findCorrections } from './pet-corrections.ts';
import { COLUMNS, PET_COLUMNS, SELECT, toPet, toRow } from './pet-row.ts';

const PETS_AT_ONCE = 1_000;

const NO_PETS: AddedPets = { count: 0, firstId: 0n, lastId: 0n };

/** SQL for a value of the store's pet of a staged row. For a join, PostgreSQL may read all pets of the store. */
const toStored = (value: string) => `(select ${value} from pets where pets.id = staged.id)`;
const ARE_SAME = areSame('pets.', 'staged.');

export function createMerge(engine: Engine): LongWork['merge'] {
  return (pets, { onlyFirst, update, dryRun, onSame, onCorrections, onCommit } = {}) =>
    stage(engine, pets, async (session, staged, corrections) => {
      await refuseRepeated(session, staged);
      const found = update && (await findCorrections(session, staged, corrections));
      // Nothing is locked yet: who reads what this prints may be slow.
      if (found) await onCorrections?.(found);
      const given = await session.read(`select 1 from ${staged} where id >= 0 limit 1`);
      // A create could be the first, or take the ids of pets with ids.
      const isAlone = onlyFirst || given.length > 0;
      const kind = isAlone ? 'exclusive' : 'shared';
      return session.transaction(dryRun ? 'snapshot' : kind, async (transaction) => {
        const { read, readLastId } = transaction;
        if (onlyFirst && (await readLastId('pets')) > 0n) {
          return { added: 0, corrected: 0, unchanged: 0, withNewIds: NO_PETS };
        }
        const counts = await countStaged(transaction, staged);
        if (counts.corrected > 0 && !(update && dryRun)) {
          if (update) await correct(transaction, corrections, engine.toJsonFunction);
          await refuseDifferent(transaction, staged);
        }
        const same = onSame && (await findSame(transaction, staged));
        if (same !== undefined) onSame?.(same);
        if (dryRun) return { ...counts, withNewIds: NO_PETS };
        await read(`delete from ${staged} as staged where ${toStored('true')}`);
        const withNewIds = await addStaged(transaction, staged, isAlone);
        onCommit?.(withNewIds);
        return { ...counts, withNewIds };
      });
    });
}

/** The work's result, with all rows in a temporary table: while they come, no other writer is blocked. */
function stage<T>(
  { inSession }: Engine,
  pets: AsyncIterable<GivenPet>,
  work: (session: Session, staged: string, corrections: string) => Promise<T>,
): Promise<T> {
  // Behind a pooler several clients may share a session, so the name is unique.
  const staged = `staged_pets_${randomUUID().replaceAll('-', '')}`;
  const corrections = `${staged}_changes`;
  return inSession(async (session) => {
    const columns = [...PET_COLUMNS, 'lacks'];
    await session.read(
      `create temporary table ${staged} as select ${PET_COLUMNS}, '' as lacks from pets limit 0`,
    );
    try {
      for await (const batch of toBatches(pets)) await session.insert(staged, columns, batch);
      return await work(session, staged, corrections);
    } finally {
      for (const table of [corrections, staged]) {
        // A broken connection has dropped it already.
        await session.read(`drop table if exists ${table}`).catch(() => undefined);
      }
    }
  });
}

/** The rows to stage. A pet that gets a new id has -1, -2 and so on. */
async function* toBatches(pets: AsyncIterable<GivenPet>): AsyncGenerator<readonly Row[]> {
  let newPets = 0n;
  let batch: Row[] = [];
  for await (const pet of pets) {
    if (pet.id === undefined) newPets += 1n;
    batch.push([pet.id ?? -newPets, ...toRow(pet), `,${pet.lacks ?? ''},`]);
    if (batch.length === PETS_AT_ONCE) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

async function countStaged({ read }: Transaction, staged: string) {
  const kind = toStored(`case when ${ARE_SAME} then 'unchanged' else 'corrected' end`);
  const rows = await read(
    `select coalesce(${kind}, 'added'), count(*) from ${staged} as staged group by 1`,
  );
  const counts = Object.fromEntries(rows.map(([name, count]) => [name, Number(count)]));
  return { added: 0, corrected: 0, unchanged: 0, ...counts };
}

async function refuseRepeated({ read }: Session, staged: string): Promise<void> {
  const [row] = await read(
    `select id from ${staged} group by id having count(*) > 1 order by id limit 1`,
  );
  if (row) throw badRequest(`the id ${row[0]} is given twice`);
}

/** @throws PetstoreError `bad_request` that says how the first of the pets differs from the store's, if one does. */
async function refuseDifferent({ read }: Transaction, staged: string): Promise<void> {
  const [given] = await read(
    `select ${PET_COLUMNS}, count(*) over () from ${staged} as staged
      where not ${toStored(ARE_SAME)} order by id limit 1`,
  );
  if (!given) return;
  const differing = Number(given.at(-1));
  const [stored = []] = await read(`${SELECT} where id = ?`, given[0] ?? null);
  const others = differing > 1 ? `; ${differing - 1} more differ` : '';
  const values = `the store has ${toPetJson(toPet(stored))}, the file ${toPetJson(toPet(given))}`;
  throw badRequest(`pet ${given[0]} differs: ${values}${others}`);
}

/** The first id of the pets that an earlier import of the same file added; undefined if there was none. */
async function findSame({ read }: Transaction, staged: string): Promise<bigint | undefined> {
  const first = await read(
    `select ${COLUMNS} from ${staged} where id < 0 order by id desc limit ?`,
    COMPARED_PETS,
  );
  if (first.length === 0) return undefined;
  const isSame = first.map((_, index) => {
    const same = COLUMNS.map((column) => `pet.${column} is not distinct from ?`).join(' and ');
    return `exists (select 1 from pets as pet where pet.id = pets.id + ${index} and ${same})`;
  });
  const sql = `select id from pets where ${isSame.join(' and ')} order by id limit 1`;
  const [found] = await read(sql, ...first.flat());
  return found?.[0] as bigint | undefined;
}

/** Adds the staged pets. Alone, it takes the ids only at the end: if it fails, the store never had a pet. */
async function addStaged(
  { read, readLastId, writeLastId, takeIds }: Transaction,
  staged: string,
  isAlone: boolean,
): Promise<AddedPets> {
  const [row] = await read(
    `select count(case when id < 0 then id end), coalesce(max(id), 0) from ${staged}`,
  );
  const [newIds, greatest] = row as [bigint, bigint];
  const isTaken = !isAlone && takeIds !== undefined;
  const before = isTaken ? await takeIds(newIds) : await readLastId('pets');
  const offset = greatest > before ? greatest : before;
  const lastId = offset + newIds;
  if (lastId > INT64_MAX) throw unavailable('the database cannot grow: no id is left');
  await read(
    `insert into pets (id, ${COLUMNS})
      select case when id < 0 then ? - id else id end, ${COLUMNS} from ${staged} order by 1`,
    offset,
  );
  if (lastId > before && !isTaken) await writeLastId('pets', lastId);
  return { count: Number(newIds), firstId: offset + 1n, lastId };
}
