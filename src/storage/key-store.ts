/** API keys in a database: the queries of the port's KeyStore. */

import type { ApiKey, Environment, NewApiKey } from '../api-key.ts';
import { PetstoreError } from '../error.ts';
import type { KeyStore } from '../store.ts';
import { batchReads } from './batch-reads.ts';
import type { Engine, Row, SqlValue } from './engine.ts';

const COMMON_COLUMNS = ['name', 'environment', 'read_only', 'created_at', 'expires_at'];
/** The columns of an ApiKey, in the order of `toApiKey`. */
export const KEY_COLUMNS = ['id', ...COMMON_COLUMNS, 'last_used_at', 'revoked_at', 'rotated_at'];
/** The columns of a NewApiKey, in the order of `toKeyRow`. */
const NEW_COLUMNS = ['digest', ...COMMON_COLUMNS];
/** How many keys a query finds. The clients of a crowd that sends invented keys wait for a few queries only. */
const FOUND_MAX = 128;
const FIND_KEYS = `select ${KEY_COLUMNS}, digest from api_keys where digest in (${Array(FOUND_MAX).fill('?')})`;
const LIST = `select ${KEY_COLUMNS} from api_keys order by id`;
const TOUCH = 'update api_keys set last_used_at = ? where id = ?';
const REVOKE = 'update api_keys set revoked_at = coalesce(revoked_at, ?) where id = ? returning id';
/** The state `active` of getKeyState in SQL; a test of the contract compares the two. */
const IS_ACTIVE = 'revoked_at is null and (expires_at is null or expires_at > ?)';
const ROTATE = `update api_keys set rotated_at = ?,
  expires_at = case when expires_at < ? then expires_at else ? end
  where id = ? and ${IS_ACTIVE} and rotated_at is null returning id`;

export function createKeyStore(engine: Engine): KeyStore {
  const insert = `insert into api_keys (id, ${NEW_COLUMNS})
    values (${engine.newKeyId}, ${NEW_COLUMNS.map(() => '?')}) returning ${KEY_COLUMNS}`;
  return {
    async add(newKey) {
      const [rows] = await engine.write({ sql: insert, values: toKeyRow(newKey) });
      return toApiKey(rows?.[0] ?? []);
    },

    find: createFind(engine),

    async list() {
      return (await engine.read(LIST)).map(toApiKey);
    },

    async touch(id, usedAt) {
      await engine.write({ sql: TOUCH, values: [usedAt, id] });
    },

    async revoke(id, revokedAt) {
      const [rows] = await engine.write({ sql: REVOKE, values: [revokedAt, id] });
      if (rows?.length === 0) throw new PetstoreError('not_found', `there is no key ${id}`);
    },

    async rotate(id, newKey, oldExpiresAt) {
      const { createdAt } = newKey;
      const values = [createdAt, oldExpiresAt, oldExpiresAt, id, createdAt];
      const [rotated, added] = await engine.write(
        { sql: ROTATE, values },
        { sql: insert, values: toKeyRow(newKey) },
      );
      if (rotated?.length === 0) {
        const why = 'it must be an active key that was not rotated before';
        throw new PetstoreError('not_found', `key ${id} cannot be rotated: ${why}`);
      }
      return toApiKey(added?.[0] ?? []);
    },
  };
}

/** Lookups share queries. Digests that may be invented take one connection: the others are for other reads. */
function createFind({ read }: Engine): KeyStore['find'] {
  const toName = (digest: SqlValue | undefined) =>
    Buffer.from(digest as Uint8Array).toString('hex');
  const findEach = (digests: readonly Uint8Array[]) => {
    const unused = Array<null>(FOUND_MAX - digests.length).fill(null);
    const reading = read(FIND_KEYS, ...digests, ...unused).then(
      (rows) => new Map(rows.map((row) => [toName(row.at(-1)), toApiKey(row)])),
    );
    return digests.map(async (digest) => (await reading).get(toName(digest)));
  };
  const findNew = batchReads(findEach, { max: FOUND_MAX, isAlone: true });
  const findAgain = batchReads(findEach, { max: FOUND_MAX });
  return (digest, wasFound) => (wasFound ? findAgain(digest) : findNew(digest));
}

function toKeyRow(key: NewApiKey): SqlValue[] {
  const { digest, name, environment, isReadOnly = false, createdAt, expiresAt = null } = key;
  return [digest, name, environment, Number(isReadOnly), createdAt, expiresAt];
}

function toApiKey(row: Row): ApiKey {
  const [id, name, environment, readOnly, createdAt, ...times] = row;
  const [expiresAt, lastUsedAt, revokedAt, rotatedAt] = times;
  return {
    id: Number(id),
    name: name as string,
    environment: environment as Environment,
    createdAt: Number(createdAt),
    ...(readOnly === 1n && { isReadOnly: true }),
    ...(expiresAt != null && { expiresAt: Number(expiresAt) }),
    ...(lastUsedAt != null && { lastUsedAt: Number(lastUsedAt) }),
    ...(revokedAt != null && { revokedAt: Number(revokedAt) }),
    ...(rotatedAt != null && { rotatedAt: Number(rotatedAt) }),
  };
}
