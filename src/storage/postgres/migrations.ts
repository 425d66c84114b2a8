/** The schema of PostgreSQL as numbered steps. A step that was released is never changed; a new one is added. */

export interface Migration {
  /** Whether a program that lacks this step does not work on a schema that has it, and must not start there. */
  readonly breaking: boolean;
  readonly sql: string;
}

/**
 * The step at index 0 leads from an empty database to schema 1, and so on. While replicas are replaced
 * one by one, the release before still runs on the new schema: a breaking step fails its requests.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    breaking: true,
    sql: `
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
    breaking: true,
    sql: `
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
    breaking: true,
    sql: `
  alter table api_keys add column read_only bigint not null default 0;
  `,
  },
  {
    breaking: true,
    sql: `
  -- the pet as it was added, in JSON; null unless it was corrected since
  alter table idempotency_keys add column added_as text;
  `,
  },
];
