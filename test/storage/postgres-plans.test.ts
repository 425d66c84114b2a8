/** The query plans of PostgreSQL: whatever it knows of its tables, a request reads by an index what it asks for. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { PET_STATUSES } from '../../src/pet.ts';
import { createKeyStore } from '../../src/storage/key-store.ts';
import { createPetStore, FIND_ADDED } from '../../src/storage/pet-store.ts';
import { openPostgres } from '../../src/storage/postgres/engine.ts';
import { createTestDatabase, NO_SESSIONS } from '../support/postgres.ts';
import { queryOnce } from '../support/postgres-cluster.ts';

const REX = { name: 'Rex', categoryId: 1n };

/** More than after which a session settles for a plan that knows no values. */
const USES = 10;
/** A table, an index that has no condition, or that by the time of keys, nearly all of which are of the last day. */
const READS_TOO_MUCH =
  /Seq Scan(?! on pets_id)|Index (?:Only )?Scan .*$(?!\n *Index Cond)|_created_at/m;

// Without sessions there are no settings of one.
test('plans › of an empty store, then many rows, then few keys › never read a whole table or index', {
  skip: NO_SESSIONS,
}, async () => {
  await using database = await createTestDatabase();
  const { address } = database;
  const query = (sql: string) => queryOnce(address, sql);
  await using engine = await openPostgres(address, { create: true, databaseConnections: 1 });
  const pets = createPetStore(engine);
  const keys = createKeyStore(engine);
  // What autovacuum does to a table of few rows: the planner then expects that it stays so small.
  await query('vacuum analyze pets, api_keys, idempotency_keys');
  const read = async (key: string) => {
    await engine.read(FIND_ADDED, 1, key);
    await pets.list({ limit: 20 });
    await pets.list({ limit: 20, status: 'sold' });
    await pets.find(1n);
    await keys.find(randomBytes(32));
  };
  const write = async (sql: string) => (await engine.write({ sql, values: [] })).flat();
  const explainAll = async () => {
    let count = 0;
    // Reads and writes have a connection each.
    for (const run of [engine.read, write]) {
      const statements = await run(
        `select name, statement from pg_prepared_statements
        where cardinality(parameter_types) > 0`,
      );
      const prepared = statements.map(([, statement]) => statement);
      assert.deepEqual(prepared, [...new Set(prepared)], 'a statement was prepared again');
      count += statements.length;
      for (const [name, statement] of statements) {
        for (const values of toValues(String(statement))) {
          const rows = await run(`explain execute "${name}"(${values})`);
          const plan = rows.join('\n');
          const index = String(statement).includes('(status, id)') ? 'pets_status' : '';
          assert.match(plan, new RegExp(`Index Scan.* ${index}`), `${statement}\n${plan}`);
          assert.doesNotMatch(plan, READS_TOO_MUCH, `${statement}\n${plan}`);
          assert.equal(plan.includes('pets_status'), index !== '', `${statement}\n${plan}`);
        }
      }
    }
    return count;
  };
  // Of a table without a page the planner expects the same cost of every index.
  for (let use = 0; use < USES; use += 1) await read('none');
  assert.equal(await explainAll(), 5);
  for (let use = 0; use < USES; use += 1) {
    await pets.addOnce(REX, { keyId: 1, key: String(use) });
    await read(String(use));
  }
  assert.equal(await explainAll(), 6);
  await query(
    `insert into pets select id, 'Rex', 1, (array['${PET_STATUSES.join("','")}', null])[id % 4 + 1]
      from generate_series(${USES + 1}, 10000) as id;
    insert into api_keys (id, digest, name, environment, created_at)
      select id, decode(lpad(to_hex(id), 64, '0'), 'hex'), 'ci', 'staging', 1
      from generate_series(1, 10000) as id;
    insert into idempotency_keys select 2, lpad(id::text, 40, '0'), 1, id from generate_series(${USES + 1}, 20000) as id`,
  );
  await explainAll();
  await query('analyze pets, api_keys, idempotency_keys');
  await explainAll();
  // After a purge the index by name stays large, so the planner expects less of any other.
  await query(`delete from idempotency_keys where pet_id > 1`);
  await query('vacuum analyze idempotency_keys');
  await explainAll();
});

/** Values that a statement may be asked with, as SQL. */
function toValues(statement: string): string[] {
  if (statement.includes('batch')) return [`'[]'`];
  if (statement.includes('json_to_recordset')) {
    return PET_STATUSES.map((status) => {
      const query = { number: 0, after: 5000, count: 21, status };
      return `'${JSON.stringify([query, { ...query, number: 1, after: 0, count: 101 }])}'`;
    });
  }
  if (statement.includes('kept')) return [`2, '7'`];
  if (statement.includes('digest in')) {
    return [`'\\x00'${', null'.repeat(15)}`, Array(16).fill(`'\\x00'`).join()];
  }
  return [`'{7}'`, `'{1,2,3,5,8,13,21,34,55,89}'`];
}
