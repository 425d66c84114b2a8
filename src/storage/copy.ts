/** All that one database keeps, into another that is empty: animals with their ids, keys with their digests, the next ids. */

import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { PetstoreError } from '../error.ts';
import type { Database, Row, Transaction } from './engine.ts';

const ROWS_AT_ONCE = 1_000;

/** What there is to copy, in the order of the first column of each. */
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
  idempotency_keys: ['pet_id', 'api_key_id', 'name', 'created_at'],
};

/** Those of them whose ids are counted up. */
const COUNTED = ['pets', 'api_keys'];

export interface Copied {
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
      if (sum(there) > 0) {
        throw new PetstoreError('bad_request', 'the store to copy to must be empty, and is not');
      }
      const counts = await countRows(source);
      // Each row is copied, and then read again.
      const total = 2 * sum(counts);
      let done = 0;
      const given = await readAll(source, async (table, columns, rows) => {
        await target.insert(table, columns, rows);
        done += rows.length;
        onCopied(done / total, table === 'pets' ? rows.length : 0);
      });
      for (const table of COUNTED) {
        await target.writeLastId(table, await source.readLastId(table));
      }
      const kept = await readAll(target, async (_table, _columns, rows) => {
        done += rows.length;
        onCopied(done / total, 0);
      });
      if (kept !== given || !isDeepStrictEqual(await countRows(target), counts)) {
        throw new PetstoreError(
          'internal_error',
          'the copy is not the same as what was copied, and was taken back',
        );
      }
      return { keys: counts.api_keys ?? 0, checksum: kept };
    }),
  );
}

async function countRows({ read }: Transaction): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of Object.keys(TABLES)) {
    const [row] = await read(`select count(*) from ${table}`);
    counts[table] = Number(row?.[0]);
  }
  return counts;
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

/** Reads every row of every table, and returns the checksum over all of them and the last ids. */
async function readAll(transaction: Transaction, take: Transaction['insert']): Promise<string> {
  const hash = createHash('sha256');
  for (const [table, columns] of Object.entries(TABLES)) {
    const [order] = columns;
    const page = `select ${columns} from ${table} where ${order} > ? order by ${order} limit ?`;
    let rows = await transaction.read(page, 0n, ROWS_AT_ONCE);
    while (rows.length > 0) {
      await take(table, columns, rows);
      hash.update(rows.map(toText).join());
      rows = await transaction.read(page, rows.at(-1)?.[0] ?? null, ROWS_AT_ONCE);
    }
  }
  for (const table of COUNTED) hash.update(toText([table, await transaction.readLastId(table)]));
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
