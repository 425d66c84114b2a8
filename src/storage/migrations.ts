/** The schema, as the steps that lead to it. A step that was released is never changed; a new one is added. */

/** Marks a file as a petstore's (SQLite's `application_id`): "Pets" in ASCII. */
export const APPLICATION_ID = 0x50657473;

/** The steps of SQLite: the one at index 0 leads from an empty database to schema 1, and so on. */
export const SQLITE_MIGRATIONS: readonly string[] = [
  `
  create table pets (
    -- autoincrement: an id is never used twice
    id integer primary key autoincrement,
    name text not null,
    category_id integer not null,
    status text
  ) strict;

  -- SQLite keeps the id in every entry, so a page of one status is read in order from here
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
  `
  create table idempotency_keys (
    api_key_id integer not null,
    name text not null,
    created_at integer not null,
    -- the animal that was added; null only until it is, in the same transaction
    pet_id integer unique,
    primary key (api_key_id, name)
  ) strict;
  create index idempotency_keys_created_at on idempotency_keys (created_at);
  `,
];

/**
 * The steps of PostgreSQL. While replicas are replaced one by one, the release before runs on the
 * new schema: a step must leave it able to.
 */
export const POSTGRES_MIGRATIONS: readonly string[] = [
  `
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
  `
  create table idempotency_keys (
    api_key_id bigint not null,
    name text collate "C" not null,
    created_at bigint not null,
    pet_id bigint unique,
    primary key (api_key_id, name)
  );
  create index idempotency_keys_created_at on idempotency_keys (created_at);
  `,
];
