/** API keys in a database: the queries and what becomes of their rows; how they are run is the engine's matter. */

import type { Environment } from '../api-key.ts';
import { PetstoreError } from '../error.ts';
import type { ApiKey, KeyStore, NewApiKey } from '../store.ts';
import type { Database, Row, SqlValue } from './engine.ts';

const COLUMNS =
  'id, name, environment, created_at, expires_at, last_used_at, revoked_at, rotated_at';
const NEW_COLUMNS = ['digest', 'name', 'environment', 'created_at', 'expires_at'];
const FIND = `select ${COLUMNS} from api_keys where digest = ?`;
const LIST = `select ${COLUMNS} from api_keys order by id`;
const TOUCH = 'update api_keys set last_used_at = ? where id = ?';
const REVOKE = 'update api_keys set revoked_at = coalesce(revoked_at, ?) where id = ? returning id';
const RETIRE = `update api_keys set rotated_at = ?,
  expires_at = case when expires_at < ? then expires_at else ? end
  where id = ? and revoked_at is null and rotated_at is null returning id`;

export function createKeyStore(database: Database): KeyStore {
  const insert = database.toInsert('api_keys', NEW_COLUMNS);

  return {
    async add(newKey) {
      const [rows] = await database.write({ sql: insert, values: toValues(newKey) });
      return toAdded(newKey, rows?.[0]);
    },

    async find(digest) {
      const [row] = await database.read(FIND, digest);
      return row === undefined ? undefined : toApiKey(row);
    },

    async list() {
      return (await database.read(LIST)).map(toApiKey);
    },

    async touch(id, usedAt) {
      await database.write({ sql: TOUCH, values: [usedAt, id] });
    },

    async revoke(id, revokedAt) {
      const [rows] = await database.write({ sql: REVOKE, values: [revokedAt, id] });
      if (rows?.length === 0) throw noSuchKey(id);
    },

    async rotate(id, newKey, oldExpiresAt) {
      const [retired, added] = await database.write(
        {
          sql: RETIRE,
          values: [newKey.createdAt, oldExpiresAt, oldExpiresAt, id],
          isCondition: true,
        },
        { sql: insert, values: toValues(newKey) },
      );
      if (retired?.length === 0) {
        throw new PetstoreError('not_found', `there is no key ${id} that can be rotated`);
      }
      return toAdded(newKey, added?.[0]);
    },
  };
}

function noSuchKey(id: number): PetstoreError {
  return new PetstoreError('not_found', `there is no key ${id}`);
}

function toValues({ digest, name, environment, createdAt, expiresAt }: NewApiKey): SqlValue[] {
  return [digest, name, environment, createdAt, expiresAt ?? null];
}

function toAdded({ digest: _, ...newKey }: NewApiKey, row: Row | undefined): ApiKey {
  return { id: Number(row?.[0]), ...newKey };
}

function toApiKey(row: Row): ApiKey {
  const [id, name, environment, createdAt, expiresAt, lastUsedAt, revokedAt, rotatedAt] = row;
  return {
    id: Number(id),
    name: name as string,
    environment: environment as Environment,
    createdAt: Number(createdAt),
    ...(expiresAt !== null && { expiresAt: Number(expiresAt) }),
    ...(lastUsedAt !== null && { lastUsedAt: Number(lastUsedAt) }),
    ...(revokedAt !== null && { revokedAt: Number(revokedAt) }),
    ...(rotatedAt !== null && { rotatedAt: Number(rotatedAt) }),
  };
}
