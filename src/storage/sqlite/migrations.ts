/** The schema of SQLite as numbered steps. A step that was released is never changed; a new one is added. */

/** Marks a file as a petstore's, in SQLite's `application_id`: "Pets" in ASCII. */
export const APPLICATION_ID = 0x50657473;

/** The step at index 0 leads from an empty database to schema 1, and so on. */
export const MIGRATIONS: readonly string[] = [
  `
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
  `
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
  `
  alter table api_keys add column read_only integer not null default 0;
  `,
  `
  -- the pet as it was added, in JSON; null unless it was corrected since
  alter table idempotency_keys add column added_as text;
  `,
];
