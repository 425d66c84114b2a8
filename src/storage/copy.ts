/** All that one database keeps, into another that is empty: animals with their ids, keys with their digests, the next ids. */

import { createHash } from 'node:crypto';
import { PetstoreError } from '../error.ts';
import type { Database, Row, Transaction } from './database.ts';

const ROWS_AT_ONCE = 1_000;

/** What there is to copy; `id` is the first column of each, and counted up. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  pets: ['id', 'name', 'category_id', 'status'],
  api_keys: [
    'id',
    'digest',
    'name',
    'environment',
    'created_at',
    'expires_at',
    'last_used_at',
    'revoked_at',
    'rotated_at',
  ],
};

export interface Copied {
  readonly pets: number;
  readonly keys: number;
  /** SHA-256 over every value that was read from the copy. */
  readonly checksum: string;
}

/** Is told how much of the work is done, from 0 to 1, and how many animals were copied just now. */
export type OnCopied = (part: number, pets: number) => void;

/**
 * Copies all, as of one moment, or nothing.
 *
 * @throws PetstoreError `bad_request` when the target keeps something already, `internal_error` when
 *   it would not keep what it was given.
 */
export function copyDatabase(
  from: Database,
  to: Database,
  onCopied: OnCopied = () => undefined,
): Promise<Copied> {
  return from.transact('snapshot', (source) =>
    to.transact('exclusive', async (target) => {
      const there = await countRows(target);
      if (there.pets + there.keys > 0) {
        throw new PetstoreError('bad_request', 'the store to copy to must be empty, and is not');
      }
      const counts = await countRows(source);
      // Each row is copied, and then read again.
      const total = 2 * (counts.pets + counts.keys);
      let done = 0;
      const given = await readAll(source, async (table, columns, rows) => {
        await target.insert(table, columns, rows);
        done += rows.length;
        onCopied(done / total, table === 'pets' ? rows.length : 0);
      });
      for (const table of Object.keys(TABLES)) {
        await target.writeLastId(table, await source.readLastId(table));
      }
      const kept = await readAll(target, async (_table, _columns, rows) => {
        done += rows.length;
        onCopied(done / total, 0);
      });
      const found = await countRows(target);
      if (kept !== given || found.pets !== counts.pets || found.keys !== counts.keys) {
        throw new PetstoreError(
          'internal_error',
          'the copy is not the same as what was copied, and was taken back',
        );
      }
      return { ...counts, checksum: kept };
    }),
  );
}

async function countRows({ read }: Transaction): Promise<{ pets: number; keys: number }> {
  const [pets] = await read('select count(*) from pets');
  const [keys] = await read('select count(*) from api_keys');
  return { pets: Number(pets?.[0]), keys: Number(keys?.[0]) };
}

/** Reads every row of every table, and returns the checksum over all of them and the last ids. */
async function readAll(transaction: Transaction, take: Transaction['insert']): Promise<string> {
  const hash = createHash('sha256');
  for (const [table, columns] of Object.entries(TABLES)) {
    const page = `select ${columns} from ${table} where id > ? order by id limit ?`;
    let rows = await transaction.read(page, 0n, ROWS_AT_ONCE);
    while (rows.length > 0) {
      await take(table, columns, rows);
      hash.update(rows.map(toText).join());
      rows = await transaction.read(page, rows.at(-1)?.[0] ?? null, ROWS_AT_ONCE);
    }
    hash.update(toText([table, await transaction.readLastId(table)]));
  }
  return hash.digest('hex');
}

/** No two rows give the same text. */
function toText(row: Row): string {
  const values = row.map((value) => {
    if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  });
  return `${values}\n`;
}
