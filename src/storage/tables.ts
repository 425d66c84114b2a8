/** The tables of the database. Copies, the check of rights, and the rights in docs/postgresql.md follow from them. */

import { KEY_COLUMNS } from './key-store.ts';
import { PET_COLUMNS } from './pet-row.ts';

interface Table {
  readonly columns: readonly string[];
  /**
   * How a copy takes it, in the order of its primary key, which is the first columns; null if the table is not part of
   * the store. `lastId` is for ids that are never used twice. On PostgreSQL they come from a sequence.
   */
  readonly copy: { readonly keyLength: 1 | 2; readonly lastId: boolean } | null;
  /** What requests and the purge do. On PostgreSQL a service does not start without these rights. */
  readonly rights: readonly ('select' | 'insert' | 'update' | 'delete')[];
}

export const TABLES: Readonly<Record<string, Table>> = {
  petstore_schema: { columns: ['version', 'compatible'], copy: null, rights: ['select'] },
  // Only the release before reads and writes it.
  counters: { columns: ['name', 'value'], copy: null, rights: [] },
  pets: {
    columns: PET_COLUMNS,
    copy: { keyLength: 1, lastId: true },
    rights: ['select', 'insert'],
  },
  api_keys: {
    columns: [...KEY_COLUMNS, 'digest'],
    copy: { keyLength: 1, lastId: true },
    rights: ['select', 'insert', 'update'],
  },
  idempotency_keys: {
    columns: ['api_key_id', 'name', 'created_at', 'pet_id', 'added_as'],
    copy: { keyLength: 2, lastId: false },
    rights: ['select', 'insert', 'update', 'delete'],
  },
};

/** The tables that have a sequence, which is named after them, such as `pets_id`. */
export const NUMBERED = Object.keys(TABLES).filter((name) => TABLES[name]?.copy?.lastId);

/** What a service needs on PostgreSQL, by the name of a table or sequence. */
export const RIGHTS: readonly (readonly [name: string, rights: Table['rights']])[] = [
  ...Object.entries(TABLES).flatMap(([name, { rights }]) =>
    rights.length === 0 ? [] : [[name, rights] as const],
  ),
  ...NUMBERED.map((name) => [`${name}_id`, ['select', 'update']] as const),
];
