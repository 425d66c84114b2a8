/** The settled mark: up to this id, no pet becomes visible any more. A cursor above it could skip a pet. */

import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '../../error.ts';
import type { PetPage } from '../../store.ts';
import type { Row, Statement } from '../engine.ts';
import { STORE_LIMITS } from '../limits.ts';
import type { Connection } from './connection.ts';

/** A key of a lock has 32 bits, and is no negative number. */
const LOW_BITS = 2 ** 31 - 1;

const LAST = toLastId('pets');

/** Reads the greatest id that the sequence of the table ever gave; 0 for none. */
export function toLastId(table: string): string {
  return `select last_value - cast(not is_called as int) as last from ${table}_id`;
}

/** The locks of ids are those of their sequence. */
const IDS = "cast(cast('pets_id' as regclass) as int)";

/**
 * Before a transaction takes ids of pets, it announces the last id: its ids will be greater. It does so by a lock,
 * which ends when its pets are visible.
 */
const LOCK_LAST = `pg_advisory_xact_lock_shared(${IDS}, cast(last & ${LOW_BITS} as int)) from (${LAST}) as taken`;

/** The announcement of a create. By another lock, it waits for work that must be alone. */
export const ANNOUNCE = `select pg_advisory_xact_lock_shared(${IDS}, -1), ${LOCK_LAST}`;

/** The announcement of an import. It lets creates take ids, so work that must be alone waits for a third lock. */
export const ANNOUNCE_BLOCK = `select pg_advisory_xact_lock_shared(${IDS}, -2); select ${LOCK_LAST}`;

/** No other transaction takes ids of pets. A lock of the table would need more rights. */
export const TAKE_IDS_ALONE = `select pg_advisory_xact_lock(${IDS}, -1)`;
/** No other transaction adds pets. */
export const ADD_ALONE = `select pg_advisory_xact_lock(${IDS}, -2); ${TAKE_IDS_ALONE}`;

/** The sequence is read first: later announcements are of greater ids. Somebody may have added pets without it. */
const READ_MARK = `with taken as materialized (${LAST})
  select least(
    greatest(last, (select max(id) from pets)),
    (select min(last - ((last - cast(objid as bigint)) & ${LOW_BITS})) from pg_locks
      where locktype = 'advisory' and objsubid = 2 and classid = cast('pets_id' as regclass)
      and cast(objid as bigint) <= ${LOW_BITS}
      and database = (select oid from pg_database where datname = current_database()))
  ) from taken`;

const PAUSE_MS = 2;

export type MarkedPage = Awaited<ReturnType<typeof readMarked>>[number];

/**
 * Reads pages, each with a mark from before. Every statement sees what was committed before it began. So a page that was
 * read after the mark has each pet up to the mark. In the other order, a create could end between the two: the page lacks
 * its pet, and the mark is above it.
 *
 * A mark stays true on its server. So a connection keeps it, and reads a new one only for a page with a cursor above it.
 */
export async function readMarked(
  connection: Connection,
  { sql, values }: Statement,
  toPages: (rows: Row[]) => PetPage[],
) {
  let pages = toPages(await connection.run(sql, ...values));
  if (pages.some(({ next = 0n }) => next > connection.mark)) {
    const readMark = { sql: READ_MARK, values: [] };
    const [[row] = [], rows = []] = await connection.runAll(readMark, { sql, values });
    connection.mark = row?.[0] as bigint;
    pages = toPages(rows);
  }
  const { mark } = connection;
  return pages.map((page) => ({ page, mark }));
}

/** Reads a page again until its cursor is settled. At SETTLE_MS_MAX, the page ends at the settled mark. */
export async function settle(readPage: () => Promise<MarkedPage>): Promise<PetPage> {
  const deadline = performance.now() + STORE_LIMITS.SETTLE_MS_MAX.value;
  for (let before: bigint | undefined; ; ) {
    const { page, mark } = await readPage();
    if ((page.next ?? 0n) <= mark) return page;
    // One read does not tell whether the mark stands still.
    if (before !== undefined && performance.now() >= deadline) {
      return cutPage(page, mark, before === mark);
    }
    before = mark;
    await sleep(PAUSE_MS);
  }
}

/** Cuts the page at the mark. If the mark stood still between two reads, some transaction holds it. */
function cutPage({ pets }: PetPage, last: bigint, isHeld: boolean): PetPage {
  const settled = pets.filter(({ id }) => id <= last);
  const next = settled.at(-1)?.id;
  if (next !== undefined) return { pets: settled, next };
  const cause = isHeld
    ? 'an earlier create or import is still under way'
    : 'the database is slow: more pets came while it read a list';
  throw unavailable(cause);
}
