/** The corrections of an import, in a temporary table: each pet as it is in the file, and as it was. */

import type { Correction, Corrections } from '../store.ts';
import type { Engine, SqlValue, Transaction } from './engine.ts';
import { COLUMNS, FIELDS, PET_COLUMNS, toJsonSql, toPet } from './pet-row.ts';

const CORRECTIONS_AT_ONCE = 1_000;

const WAS = COLUMNS.map((column) => `was_${column}`);
/** The counts of each field of `Corrections`. */
const COUNTS = FIELDS.flatMap(({ name, column }) => [
  `count(case when ${column} is distinct from was_${column} then ${column} end)`,
  `count(case when ${column} is null then was_${column} end)`,
  `count(case when ${column} is null and lacks like '%,${name},%' then was_${column} end)`,
]);

export const areSame = (one: string, other: string) =>
  COLUMNS.map((column) => `${one}${column} is not distinct from ${other}${column}`).join(' and ');

/** Finds the store's pets that differ from the staged pets, as of one moment. @param table where they are kept. */
export async function findCorrections(
  { read }: Transaction,
  staged: string,
  table: string,
): Promise<Corrections> {
  const columns = COLUMNS.map((column) => `staged.${column}, pets.${column} as was_${column}`);
  // So written, each staged id is looked up. For a join by `=`, PostgreSQL may read all pets of the store.
  await read(
    `create temporary table ${table} as select staged.id, lacks, ${columns} from ${staged} as staged cross join pets
      where pets.id between staged.id and staged.id and not (${areSame('pets.', 'staged.')})`,
  );
  await read(`create index ${table}_id on ${table} (id)`);
  const [row = []] = await read(`select count(*), ${COUNTS} from ${table}`);
  const [count = 0, ...counts] = row.map(Number);
  const fields = FIELDS.map(({ name }, index) => {
    const [changed = 0, removed = 0, lacking = 0] = counts.slice(3 * index);
    return { name, changed, removed, lacking };
  });
  return { count, fields, list: () => listCorrections(read, table) };
}

async function* listCorrections(read: Engine['read'], table: string) {
  const sql = `select id, ${WAS}, ${PET_COLUMNS} from ${table} where id > ? order by id limit ?`;
  let last: SqlValue | undefined = 0n;
  while (last !== undefined) {
    const rows = await read(sql, last, CORRECTIONS_AT_ONCE);
    const toIs = (row: (typeof rows)[number]) => toPet(row.slice(PET_COLUMNS.length));
    yield rows.map((row): Correction => ({ was: toPet(row), is: toIs(row) }));
    last = rows.at(-1)?.[0];
  }
}

/** Corrects the pets as `update` of a pet does, but none that has changed since it was found. */
export async function correct(
  { read }: Transaction,
  table: string,
  toJson: Engine['toJsonFunction'],
): Promise<void> {
  const added = `select ${toJsonSql(toJson)} from pets where id = pet_id`;
  await read(
    `update idempotency_keys set added_as = coalesce(added_as, (${added}))
      where pet_id in (select id from ${table})`,
  );
  const changes = COLUMNS.map((column) => `${column} = given.${column}`);
  await read(
    `update pets set ${changes} from ${table} as given
      where pets.id = given.id and ${areSame('pets.', 'given.was_')}`,
  );
}
