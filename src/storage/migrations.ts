/** The schema as numbered steps for both engines. A step that was released is never changed; a new step is added. */

import { PetstoreError } from '../error.ts';

/** "Pets" in ASCII: the `application_id` of a file of SQLite, and the advisory lock of a migration on PostgreSQL. */
export const APPLICATION_ID = 0x50657473;

export interface Migration {
  /** The schema that this step makes; 0 is an empty database. */
  readonly number: number;
  /** Whether a program without this step fails on a schema that has it. Such a program does not start there. */
  readonly breaking: boolean;
  readonly sqlite: string;
  /** Columns that it adds on SQLite where they are missing: there `add column` has no `if not exists`. */
  readonly sqliteColumns?: readonly (readonly [table: string, definition: string])[];
  readonly postgres: string;
}

/**
 * While replicas are replaced one by one, the release before still runs on the new schema: a breaking
 * step fails its requests. No number is used again, released or not: a store may have the schema of that number.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    number: 1,
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
  `,
  },
  {
    number: 2,
    breaking: true,
    sqlite: `
  create table idempotency_keys (
    api_key_id integer not null,
    name text not null,
    created_at integer not null,
    -- null only within the transaction that adds the pet
    pet_id integer unique,
    primary key (api_key_id, name)
  ) strict;
  create index idempotency_keys_created_at on idempotency_keys (created_at);
  `,
    postgres: `
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
  {
    number: 3,
    breaking: true,
    sqlite: `
  alter table api_keys add column read_only integer not null default 0;
  -- the pet as it was added, in JSON; null unless it was corrected since
  alter table idempotency_keys add column added_as text;
  `,
    postgres: `
  alter table api_keys add column read_only bigint not null default 0;
  -- the pet as it was added, in JSON; null unless it was corrected since
  alter table idempotency_keys add column added_as text;
  `,
  },
  // 4 was step 3 in two parts; a store with only the first part has the number 3.
  {
    number: 5,
    breaking: false,
    sqlite: '-- its ids come from autoincrement',
    sqliteColumns: [
      ['api_keys', 'rotated_at integer'],
      ['idempotency_keys', 'added_as text'],
    ],
    postgres: `
  alter table idempotency_keys add column if not exists added_as text;

  lock table counters in exclusive mode;
  create sequence pets_id;
  create sequence api_keys_id;
  select setval(cast(name || '_id' as regclass), greatest(value, 1), value > 0) from counters;

  -- the release before takes its ids from counters: each block of them comes from the sequence
  create function take_ids() returns trigger
    language plpgsql security definer set search_path from current as $$
    declare
      ids regclass := cast(new.name || '_id' as regclass);
      first_id bigint := 1;
      last_id bigint := 0;
      next_id bigint;
    begin
      if new.value <= old.value then return new; end if;
      if new.name = 'pets' then
        perform pg_advisory_xact_lock_shared(cast(ids as int), -1), pg_advisory_xact_lock_shared(
          cast(ids as int), cast(case when is_called then last_value else 0 end & 2147483647 as int)) from pets_id;
      end if;
      while last_id - first_id + 1 < new.value - old.value loop
        next_id := nextval(ids);
        if next_id <> last_id + 1 then first_id := next_id; end if;
        last_id := next_id;
      end loop;
      new.value := last_id;
      return new;
    end $$;
  create trigger take_ids before update on counters for each row execute function take_ids();

  -- its import would choose ids that others may have: it locks counters, and has a temporary table
  create function refuse_import() returns trigger
    language plpgsql security definer set search_path from current as $$
    begin
      if exists (select from counters where xmax = cast(pg_current_xact_id() as xid)) then
        raise 'pets import of the release before' using errcode = 'object_in_use';
      end if;
      return null;
    end $$;
  create trigger refuse_import before insert on pets for each statement
    when (pg_my_temp_schema() <> 0) execute function refuse_import();
  `,
  },
];

/** The schema of this program. */
export const SCHEMA = Math.max(...MIGRATIONS.map(({ number }) => number));

/** @param database how the message names the database. */
export function createOlderError(database: string, schema: number): PetstoreError {
  const what = `its schema is ${schema}, this program needs ${SCHEMA}`;
  const remedy = 'back it up with the older release, then run petstore migrate';
  const message = `${database} is of an older petstore: ${what}: ${remedy}`;
  return new PetstoreError('unavailable', message);
}
