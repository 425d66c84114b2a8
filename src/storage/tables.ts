/** The tables of the database. Copies, the check of rights, and the rights in docs/postgresql.md follow from them. */

import { KEY_COLUMNS } from './key-store.ts';
import { PET_COLUMNS } from './pet-row.ts';

interface Table {
  /** A copy reads the rows in the order of the first column. */
  readonly columns: readonly string[];
  /** What a copy takes: also the last id of a table whose ids are never used twice. */
  readonly copied: 'nothing' | 'rows' | 'rows and last id';
  /** What requests and the purge do. On PostgreSQL a service does not start without these rights. */
  readonly rights: readonly ('select' | 'insert' | 'update' | 'delete')[];
}

export const TABLES: Readonly<Record<string, Table>> = {
  petstore_schema: { columns: ['version', 'compatible'], copied: 'nothing', rights: ['select'] },
  pets: { columns: PET_COLUMNS, copied: 'rows and last id', rights: ['select', 'insert'] },
  counters: { columns: ['name', 'value'], copied: 'nothing', rights: ['select', 'update'] },
  api_keys: {
    columns: [...KEY_COLUMNS, 'digest'],
    copied: 'rows and last id',
    rights: ['select', 'insert', 'update'],
  },
  idempotency_keys: {
    columns: ['pet_id', 'api_key_id', 'name', 'created_at', 'added_as'],
    copied: 'rows',
    rights: ['select', 'insert', 'update', 'delete'],
  },
};
