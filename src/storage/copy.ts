/** Copies all that one database holds into another that is empty: pets and keys with their ids, and the last ids. */

import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Environment } from '../api-key.ts';
import { PetstoreError } from '../error.ts';
import type { Engine, Row, Transaction } from './engine.ts';
import { KEY_COLUMNS } from './key-store.ts';
import { SCHEMA } from './migrations.ts';
import { COLUMNS } from './pet-row.ts';

const ROWS_AT_ONCE = 1_000;

/** The columns of each table; its rows are copied in the order of the first column. */
export const TABLES: Readonly<Record<string, readonly string[]>> = {
  pets: ['id', ...COLUMNS],
  api_keys: [...KEY_COLUMNS, 'digest'],
  idempotency_keys: ['pet_id', 'api_key_id', 'name', 'created_at', 'added_as'],
};

/** The tables whose ids count up. */
const COUNTED = ['pets', 'api_keys'];

export interface CopyResult {
  readonly keys: number;
  /** SHA-256 over every value that was read back from the copy. */
  readonly checksum: string;
}

/** Called for each page of rows; `part` is as in OnBackupProgress, `pets` is the number of pets on the page. */
export type OnCopyProgress = (phase: 'copied' | 'read back', part: number, pets: number) => void;

/**
 * Copies all, as of one moment, or nothing: the target is read back before it commits.
 *
 * @param environment only its keys are copied; if it is undefined, all keys are copied.
 * @throws PetstoreError `bad_request` when the target is not empty, `unavailable` when a database is of a
 *   newer petstore, `internal_error` when the copy differs from the original.
 */
export async function copyDatabase(
  from: Engine,
  to: Engine,
  onProgress: OnCopyProgress = () => undefined,
  environment?: Environment,
): Promise<CopyResult> {
  if (from.foundSchema > SCHEMA || to.foundSchema > SCHEMA) {
    throw new PetstoreError(
      'unavailable',
      'the database is of a newer petstore: copy it with that release',
    );
  }
  return from.transact('snapshot', (source) =>
    to.transact('exclusive', async (target) => {
      if ((await countRows(target)) > 0) {
        throw new PetstoreError(
          'bad_request',
          'the store to copy to is not empty: name an empty one',
        );
      }
      const total = await countRows(source, environment);
      let keys = 0;
      const original = await readAll(source, environment, async (table, columns, rows, done) => {
        await target.insert(table, columns, rows);
        if (table === 'api_keys') keys += rows.length;
        onProgress('copied', done / total, table === 'pets' ? rows.length : 0);
      });
      for (const table of COUNTED) {
        await target.writeLastId(table, await source.readLastId(table));
      }
      const copy = await readAll(target, undefined, (table, _columns, rows, done) =>
        onProgress('read back', done / total, table === 'pets' ? rows.length : 0),
      );
      if (copy.checksum !== original.checksum || original.done !== total) {
        throw new PetstoreError(
          'internal_error',
          'the copy differs from the original, and was undone',
        );
      }
      return { keys, checksum: copy.checksum };
    }),
  );
}

/** What the rows are selected from: the table, or only the keys of the environment. */
function selectFrom(table: string, environment?: Environment): string {
  if (table !== 'api_keys' || environment === undefined) return table;
  return `(select * from api_keys where environment = '${environment}') as kept`;
}

async function countRows({ read }: Transaction, environment?: Environment): Promise<number> {
  const tables = Object.keys(TABLES).map((table) => selectFrom(table, environment));
  const [row] = await read(
    `select ${tables.map((from) => `(select count(*) from ${from})`).join(' + ')}`,
  );
  return Number(row?.[0]);
}

type Take = (
  ...page: [table: string, columns: readonly string[], rows: readonly Row[], done: number]
) => void | Promise<void>;

/** Hands every row of every table to `take`. Resolves to their number, and the checksum over them and the last ids. */
async function readAll(
  { read, readLastId }: Transaction,
  environment: Environment | undefined,
  take: Take,
): Promise<{ done: number; checksum: string }> {
  const hash = createHash('sha256');
  let done = 0;
  for (const [table, columns] of Object.entries(TABLES)) {
    const [order] = columns;
    const from = selectFrom(table, environment);
    const page = `select ${columns} from ${from} where ${order} > ? order by ${order} limit ?`;
    let rows = await read(page, 0n, ROWS_AT_ONCE);
    while (rows.length > 0) {
      done += rows.length;
      await take(table, columns, rows, done);
      hash.update(rows.map(toText).join());
      // On SQLite nothing else waits, so a signal could not end the copy.
      await setImmediate();
      rows = await read(page, rows.at(-1)?.[0] ?? null, ROWS_AT_ONCE);
    }
  }
  for (const table of COUNTED) hash.update(toText([table, await readLastId(table)]));
  return { done, checksum: hash.digest('hex') };
}

/** A text that no two different rows share. */
function toText(row: Row): string {
  const values = row.map((value) => {
    if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  });
  return `${values}\n`;
}
