/** The schema as numbered steps for both engines. A step that was released is never changed; a new step is added. */

import { PetstoreError } from '../error.ts';

/** Marks a file of SQLite as a petstore's, in its `application_id`: "Pets" in ASCII. */
export const APPLICATION_ID = 0x50657473;

export interface Migration {
  /** The schema that this step makes; 0 is an empty database. */
  readonly number: number;
  /** Whether a program without this step fails on a schema that has it. Such a program does not start there. */
  readonly breaking: boolean;
  readonly sqlite: string;
  readonly postgres: string;
}

/**
 * While replicas are replaced one by one, the release before still runs on the new schema: a breaking
 * step fails its requests.
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
];

/** The schema of this program. */
export const SCHEMA = MIGRATIONS.length;

/** @param database how the message names the database. */
export function createOlderError(database: string, schema: number): PetstoreError {
  return new PetstoreError(
    'unavailable',
    `${database} is of an older petstore: its schema is ${schema}, this program needs ${SCHEMA}: back it up with the older release, then run petstore migrate`,
  );
}
