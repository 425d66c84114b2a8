/** The settled mark: up to this id, no pet becomes visible any more. A cursor above it could skip a pet. */

import { setTimeout as sleep } from 'node:timers/promises';
import { PetstoreError } from '../../error.ts';
import type { PetPage } from '../../store.ts';
import type { Engine } from '../engine.ts';
import { STORE_LIMITS } from '../limits.ts';

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
 * which ends when its pets are visible. By another lock, it waits for work that must be alone.
 */
export const ANNOUNCE = `select pg_advisory_xact_lock_shared(${IDS}, -1),
  pg_advisory_xact_lock_shared(${IDS}, cast(last & ${LOW_BITS} as int)) from (${LAST}) as taken`;

/** No other transaction takes ids of pets. A lock of the table would need more rights. */
export const TAKE_IDS_ALONE = `select pg_advisory_xact_lock(${IDS}, -1)`;

/**
 * The sequence is read first: whoever announces ids later takes greater ids. The greatest id counts too, since somebody
 * may have added pets without the sequence.
 */
const READ_MARK = `with taken as materialized (${LAST})
  select least(
    greatest(last, (select max(id) from pets)),
    (select min(last - ((last - cast(objid as bigint)) & ${LOW_BITS})) from pg_locks
      where locktype = 'advisory' and objsubid = 2 and classid = cast('pets_id' as regclass)
      and cast(objid as bigint) <= ${LOW_BITS}
      and database = (select oid from pg_database where datname = current_database()))
  ) from taken`;

/** Before each reading of the mark, which all pages that wait share. */
const READ_PAUSE_MS = 2;

/** Reads a page again until its cursor is settled. At SETTLE_MS_MAX, the page ends at the settled mark. */
export type Settle = (readPage: () => Promise<PetPage>) => Promise<PetPage>;

/**
 * @param countOpened the connections that were opened so far: a later one may be to another server, with other ids.
 * @param isKept whether a mark is kept for later pages: behind a pooler, a connection may change its server.
 */
export function createSettle(
  read: Engine['read'],
  countOpened: () => number,
  isKept: boolean,
): Settle {
  const none = { id: 0n, opened: 0 };
  let latest = none;
  let reading: Promise<typeof none> | undefined;

  async function readMark() {
    await sleep(READ_PAUSE_MS);
    const opened = countOpened();
    const [row] = await read(READ_MARK);
    latest = { id: row?.[0] as bigint, opened };
    return latest;
  }

  return async (readPage) => {
    const deadline = performance.now() + STORE_LIMITS.SETTLE_MS_MAX.value;
    // Only a mark from before the page was read says that the page lacks no pet.
    let mark = isKept ? latest : none;
    for (;;) {
      const page = await readPage();
      const { next = 0n } = page;
      const id = mark.opened === countOpened() ? mark.id : 0n;
      if (next <= id) return page;
      if (performance.now() >= deadline) return cutPage(page, id);
      do {
        reading ??= readMark().finally(() => {
          reading = undefined;
        });
        mark = await reading;
      } while (mark.id < next && performance.now() < deadline);
    }
  };
}

/** The page up to this id, which becomes its cursor. */
function cutPage({ pets }: PetPage, last: bigint): PetPage {
  const settled = pets.filter(({ id }) => id <= last);
  const next = settled.at(-1)?.id;
  if (next !== undefined) return { pets: settled, next };
  throw new PetstoreError('unavailable', 'an earlier create or import is still under way');
}
