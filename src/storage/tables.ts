/** The tables of the database. Copies, the check of rights, and the rights in docs/postgresql.md follow from them. */

import { KEY_COLUMNS } from './key-store.ts';
import { PET_COLUMNS } from './pet-row.ts';

interface Table {
  readonly columns: readonly string[];
  /**
   * How a copy takes it, in the order of its primary key, which is the first columns; null if the table is not part of
   * the store. `lastId` is for ids that are never used twice.
   */
  readonly copy: { readonly keyLength: 1 | 2; readonly lastId: boolean } | null;
  /** What requests and the purge do. On PostgreSQL a service does not start without these rights. */
  readonly rights: readonly ('select' | 'insert' | 'update' | 'delete')[];
}

export const TABLES: Readonly<Record<string, Table>> = {
  petstore_schema: { columns: ['version', 'compatible'], copy: null, rights: ['select'] },
  counters: { columns: ['name', 'value'], copy: null, rights: ['select', 'update'] },
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
