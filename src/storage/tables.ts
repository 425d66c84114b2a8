/** The tables of the database. Copies, the check of rights, and the rights in docs/postgresql.md follow from them. */

import { KEY_COLUMNS } from './key-store.ts';
import { PET_COLUMNS } from './pet-row.ts';

interface Table {
  readonly columns: readonly string[];
  /** The primary key, which is the first columns; empty if the table is not part of a copy. */
  readonly key: readonly string[];
  /** What requests and the purge do. On PostgreSQL a service does not start without these rights. */
  readonly rights: readonly ('select' | 'insert' | 'update' | 'delete')[];
}

export const TABLES: Readonly<Record<string, Table>> = {
  /** The number of the layout, in the name of its first release. */
  petstore_schema: { columns: ['version', 'compatible'], key: [], rights: ['select'] },
  pets: { columns: PET_COLUMNS, key: ['id'], rights: ['select', 'insert'] },
  api_keys: {
    columns: [...KEY_COLUMNS, 'digest'],
    key: ['id'],
    rights: ['select', 'insert', 'update'],
  },
  idempotency_keys: {
    columns: ['api_key_id', 'name', 'created_at', 'pet_id', 'added_as'],
    key: ['api_key_id', 'name'],
    rights: ['select', 'insert', 'update', 'delete'],
  },
};

/** The tables of a copy, which are the tables of this program. */
export const COPIED = Object.entries(TABLES).flatMap(([name, { columns, key }]) =>
  key.length === 0 ? [] : [{ name, columns, key }],
);

/** Fails if the database lacks a table or column that this program uses. It reads no row. */
export const CHECK_COLUMNS = `select 1 from ${COPIED.map(
  ({ name, columns }) => `(select ${columns} from ${name} limit 0) as ${name}`,
)}`;

/** The tables whose ids are never used twice. On PostgreSQL each has a sequence, such as `pets_id`. */
export const NUMBERED = COPIED.filter(({ key }) => key[0] === 'id').map(({ name }) => name);

/** What a service needs on PostgreSQL, by the name of a table or sequence. */
export const RIGHTS: readonly (readonly [name: string, rights: Table['rights']])[] = [
  ...Object.entries(TABLES).map(([name, { rights }]) => [name, rights] as const),
  ...NUMBERED.map((name) => [`${name}_id`, ['select', 'update']] as const),
];
