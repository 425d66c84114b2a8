/** The layout as numbered steps for both engines. A step that was released is never changed; a new step is added. */

import { unavailable } from '../error.ts';
import type { OpenOptions } from './engine.ts';

/** "Pets" in ASCII: the `application_id` of a file of SQLite, and the advisory lock of a migration on PostgreSQL. */
export const APPLICATION_ID = 0x50657473;

export interface Migration {
  /** The layout that this step starts from; 0 is an empty database. */
  readonly from: number;
  readonly number: number;
  /** Whether a program without this step fails on a layout that has it. Such a program does not start there. */
  readonly breaking: boolean;
  readonly sqlite: string;
  readonly postgres: string;
}

/**
 * While replicas are replaced one by one, the release before still runs on the new layout: a breaking
 * step fails its requests. No number is used again, released or not: a store may have the layout of that number.
 */
export const MIGRATIONS: readonly Migration[] = [
  // The layout of 1.0.0.
  {
    from: 0,
    number: 2,
    breaking: true,
    sqlite: `
  create table pets (
    -- autoincrement: an id is never used twice
    id integer primary key autoincrement,
    name text not null,
    category_id integer not null,
    status text
  ) strict;

  -- each entry of an SQLite index holds the id too, so a page of one status is read from it in order
  create index pets_status on pets (status);

  create table api_keys (
    id integer primary key autoincrement,
    digest blob not null unique,
    name text not null,
    environment text not null,
    created_at integer not null,
    expires_at integer,
    last_used_at integer,
    revoked_at integer,
    rotated_at integer
  ) strict;

  create table idempotency_keys (
    api_key_id integer not null,
    name text not null,
    created_at integer not null,
    -- null only within the transaction that adds the pet
    pet_id integer unique,
    primary key (api_key_id, name)
  ) strict;
  create index idempotency_keys_created_at on idempotency_keys (created_at);

  pragma application_id = ${APPLICATION_ID};
  `,
    postgres: `
  create table petstore_schema (version bigint not null);
  insert into petstore_schema values (0);

  -- the greatest id that each table ever had
  create table counters (name text primary key, value bigint not null);
  insert into counters values ('pets', 0), ('api_keys', 0);

  create table pets (
    id bigint primary key,
    name text collate "C" not null,
    category_id bigint not null,
    status text collate "C"
  );
  create index pets_status on pets (status, id);

  create table api_keys (
    id bigint primary key,
    digest bytea not null unique,
    name text collate "C" not null,
    environment text not null,
    created_at bigint not null,
    expires_at bigint,
    last_used_at bigint,
    revoked_at bigint,
    rotated_at bigint
  );

  create table idempotency_keys (
    api_key_id bigint not null,
    name text collate "C" not null,
    created_at bigint not null,
    pet_id bigint unique,
    primary key (api_key_id, name)
  );
  create index idempotency_keys_created_at on idempotency_keys (created_at);
  `,
  },
  // Only the main branch made layout 5.
  {
    from: 5,
    number: 6,
    breaking: true,
    sqlite: '-- it has all columns',
    postgres: 'drop table counters; drop function take_ids(), refuse_import() cascade',
  },
  {
    from: 2,
    number: 6,
    breaking: true,
    sqlite: `
  alter table api_keys add column read_only integer not null default 0;
  -- the pet as it was added, in JSON; null unless it was corrected since
  alter table idempotency_keys add column added_as text;
  `,
    postgres: `
  alter table petstore_schema add column compatible bigint;
  alter table api_keys add column read_only bigint not null default 0;
  -- the pet as it was added, in JSON; null unless it was corrected since
  alter table idempotency_keys add column added_as text;

  lock table counters;
  create sequence pets_id;
  create sequence api_keys_id;
  select setval(cast(name || '_id' as regclass), greatest(value, 1), value > 0) from counters;
  drop table counters;
  `,
  },
];

export const LAYOUT = Math.max(...MIGRATIONS.map(({ number }) => number));

/** The steps from a layout to the last one; none if no step starts from it. */
export function findSteps(layout: number, migrations = MIGRATIONS): readonly Migration[] {
  const step = migrations.find(({ from }) => from === layout);
  return step === undefined ? [] : [step, ...findSteps(step.number, migrations)];
}

/** @throws PetstoreError `unavailable` for an older layout, unless it may be `olderLayout`. */
export function refuseOlder(database: string, layout: number, { olderLayout }: OpenOptions): void {
  const hasSteps = findSteps(layout).length > 0;
  if (layout === 0 || layout >= LAYOUT || (hasSteps && olderLayout !== undefined)) return;
  const what = `its layout is ${layout}, this program needs ${LAYOUT}`;
  const remedy = hasSteps
    ? 'back it up with the older release, then run petstore migrate'
    : 'no release had it: export its pets with the program that made it, import them with --by-id into a new store, and make new keys';
  throw unavailable(`${database} is of an older petstore: ${what}: ${remedy}`);
}
