/** Copies all that one database holds into another that is empty: pets and keys with their ids, and the last ids. */

import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Environment } from '../api-key.ts';
import { PetstoreError, unavailable } from '../error.ts';
import type { Engine, Row, Transaction } from './engine.ts';
import { LAYOUT } from './migrations.ts';
import { COPIED, NUMBERED } from './tables.ts';

const ROWS_AT_ONCE = 1_000;

export interface CopyOptions {
  /** Only its keys are copied; by default all keys are copied. */
  readonly environment?: Environment | undefined;
  readonly onPets?: (count: number) => void;
  readonly onCommit?: (() => void) | undefined;
}

class SideError extends PetstoreError {}

/** Messages of PostgreSQL name no database. */
export const sayingSide =
  (side: 'from' | 'to') =>
  (cause: unknown): never => {
    if (!(cause instanceof PetstoreError) || cause instanceof SideError) throw cause;
    throw new SideError(cause.code, `the store to copy ${side}: ${cause.message}`, { cause });
  };
const ofSource = sayingSide('from');

/**
 * Copies all, as of one moment, or nothing. Each row is read back before the target commits.
 *
 * @returns the number of keys.
 * @throws PetstoreError `bad_request` when the target is not empty, `unavailable` when a database is of a
 *   newer petstore, `internal_error` when the copy differs from the original.
 */
export async function copyDatabase(
  from: Engine,
  to: Engine,
  options: CopyOptions = {},
): Promise<number> {
  for (const [side, { foundLayout }] of Object.entries({ from, to })) {
    if (foundLayout <= LAYOUT) continue;
    const message = `the store to copy ${side} is of a newer petstore: copy it with that release`;
    throw unavailable(message);
  }
  let keys: number | undefined;
  const copying = from.longTransaction('snapshot', async (source) => {
    const inTarget = to.longTransaction('exclusive', async (target) => {
      await refuseFilled(target);
      for (const table of COPIED) await copyRows(source, target, table, options);
      for (const name of NUMBERED) {
        const lastId = await source.readLastId(name).catch(ofSource);
        await target.writeLastId(name, lastId);
        refuseDifference(await target.readLastId(name), lastId);
      }
      const [row] = await target.read('select count(*) from api_keys');
      options.onCommit?.();
      return Number(row?.[0]);
    });
    keys = await inTarget.catch(sayingSide('to'));
    return keys;
  });
  // Once the target has committed, the end of the source does not matter.
  return copying.catch((error) => keys ?? ofSource(error));
}

async function refuseFilled({ read }: Transaction): Promise<void> {
  const tables = COPIED.map(({ name }) => `select 1 from ${name}`);
  const rows = await read(`${tables.join(' union all ')} limit 1`);
  if (rows.length === 0) return;
  throw new SideError('bad_request', 'the store to copy to is not empty: name an empty one');
}

async function copyRows(
  source: Transaction,
  target: Transaction,
  { name, columns, key }: (typeof COPIED)[number],
  { environment, onPets }: CopyOptions,
): Promise<void> {
  const isPart = name === 'api_keys' && environment !== undefined;
  const part = isPart ? `environment = '${environment}'` : 'true';
  const selectAfter = (after: string) =>
    `select ${columns} from ${name} where ${part} and ${after} order by ${key} limit ${ROWS_AT_ONCE}`;
  const nextPage = selectAfter(`(${key}) > (${key.map(() => '?')})`);
  let page = selectAfter('true');
  let after: Row | undefined = [];
  while (after !== undefined) {
    const rows: Row[] = await source.read(page, ...after).catch(ofSource);
    await target.insert(name, columns, rows);
    refuseDifference(await target.read(page, ...after), rows);
    if (name === 'pets') onPets?.(rows.length);
    // On SQLite nothing else waits, so a signal could not end the copy.
    await setImmediate();
    after = rows.at(-1)?.slice(0, key.length);
    page = nextPage;
  }
}

function refuseDifference(copy: unknown, original: unknown): void {
  // One engine reads bytes as a Buffer, the other as a Uint8Array.
  if (isDeepStrictEqual(copy, original, { skipPrototype: true })) return;
  throw new SideError('internal_error', 'the copy differs from the original, and was undone');
}
