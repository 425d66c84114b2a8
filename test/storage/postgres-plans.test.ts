/** The query plans of PostgreSQL: whatever it knows of its tables, a request reads by an index what it asks for. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { FastifyReply } from 'fastify';
import { PetstoreError } from '../../src/error.ts';
import { COMPONENTS } from '../../src/http/components.ts';
import type { Operation } from '../../src/http/operations/operation.ts';
import { OPERATIONS } from '../../src/http/operations/operations.ts';
import { parseJson, writeJson } from '../../src/json.ts';
import { PET_STATUSES } from '../../src/pet.ts';
import type { JsonSchema } from '../../src/pet-field.ts';
import { createKeyStore } from '../../src/storage/key-store.ts';
import { FILTERS } from '../../src/storage/pet-row.ts';
import { createPetStore } from '../../src/storage/pet-store.ts';
import { openPostgres } from '../../src/storage/postgres/engine.ts';
import { createEmptyDatabase } from '../support/empty-database.ts';
import { NO_SESSIONS } from '../support/postgres.ts';
import { combine, combineFilters, sampleField } from './contract/data.ts';

/** More than after which a session settles for a plan that knows no values. */
const USES = 6;
/** A table, all rows to sort, an index that has no condition, or that by the time of keys, nearly all of the last day. */
const READS_TOO_MUCH =
  /Seq Scan(?! on \w+_id )|Limit .*\n *-> {2}Sort|Index (?:Only )?Scan .*$(?!\n *Index Cond)|_created_at/m;

// Without sessions there are no settings of one.
test('plans › of an empty store, then many rows, then few keys › never read a whole table or index', {
  skip: NO_SESSIONS,
}, async () => {
  await using database = await createEmptyDatabase();
  const { address, query } = database;
  await using engine = await openPostgres(address, { create: true, databaseConnections: 1 });
  const pets = createPetStore(engine);
  const keys = createKeyStore(engine);
  // What autovacuum does to a table of few rows: the planner then expects that it stays so small.
  await query('vacuum analyze pets, api_keys, idempotency_keys');
  const reply = { header: () => reply, request: { keyId: 1 } } as unknown as FastifyReply;
  const context = { pets, base: '', retireGetPet: false };
  /** Does each operation with each set of its parameters, often. */
  const useAll = async () => {
    for (let use = 0; use < USES; use += 1) {
      await keys.find(randomBytes(32));
      for (const operation of OPERATIONS) {
        for (const input of toInputs(operation)) {
          // A store without pets has none to get.
          await operation
            .handle(context, input, reply)
            .catch((error) => assert.ok(error instanceof PetstoreError, error));
        }
      }
    }
  };
  const write = async (sql: string) => (await engine.write({ sql, values: [] })).flat();
  /** @param isEmpty all indexes then have the same cost, and a change cannot ask for an order. */
  const explainAll = async (isEmpty = false) => {
    const explained: string[] = [];
    // Reads and writes have a connection each.
    for (const run of [engine.read, write]) {
      const statements = await run(
        `select name, statement, array_to_string(parameter_types, ',') from pg_prepared_statements
        where cardinality(parameter_types) > 0`,
      );
      for (const [name, statement, types] of statements) {
        const sql = String(statement);
        explained.push(sql);
        if (isEmpty && /^(?:update|delete from) pets/.test(sql)) continue;
        const index = toIndex(sql);
        for (const values of toValues(sql, String(types).split(','))) {
          const plan = (await run(`explain execute "${name}"(${values})`)).join('\n');
          const told = `${index ?? 'a primary key'} for ${sql}\n${plan}`;
          const used = [...plan.matchAll(/Index (?:Only )?Scan.* using (\S+) on pets/g)];
          assert.match(plan, /Index Scan|^Insert/, told);
          assert.doesNotMatch(plan, READS_TOO_MUCH, told);
          for (const [, name] of used) assert.equal(name, index ?? 'pets_pkey', told);
        }
      }
    }
    assert.deepEqual(explained, [...new Set(explained)], 'a statement was prepared again');
    const lists = explained.filter((sql) => sql.includes('asked.count'));
    assert.ok(lists.length > combineFilters().length, 'a list was not tried');
    assert.ok(
      explained.some((sql) => sql.startsWith('with kept')),
      'no replay was tried',
    );
  };
  /** How many rows and entries of indexes all statements have read so far. */
  const countRead = async () => {
    for (const run of [engine.read, write]) await run('select pg_stat_force_next_flush()');
    const [[count] = []] = await engine.read(
      `select (select sum(seq_tup_read) from pg_stat_user_tables) + sum(idx_tup_read)
        from pg_stat_user_indexes`,
    );
    return count;
  };
  await useAll();
  // What autovacuum does to a table of few rows: the planner then expects that it stays so small.
  // Of a table without a page the planner expects the same cost of every index.
  await query('truncate pets, idempotency_keys');
  await query('vacuum analyze pets, api_keys, idempotency_keys');
  await explainAll(true);
  await useAll();
  await explainAll();
  await query(
    `insert into pets select id, 'Rex', 1, (array['${PET_STATUSES.join("','")}', null])[id % 4 + 1]
      from generate_series(1001, 10000) as id;
    insert into api_keys (id, digest, name, environment, created_at)
      select id, decode(lpad(to_hex(id), 64, '0'), 'hex'), 'ci', 'staging', 1
      from generate_series(1, 10000) as id;
    insert into idempotency_keys select 2, lpad(id::text, 40, '0'), 1, id from generate_series(1001, 20000) as id`,
  );
  await explainAll();
  await query('analyze pets, api_keys, idempotency_keys');
  await explainAll();
  const before = await countRead();
  await useAll();
  const read = Number(await countRead()) - Number(before);
  // Also of a statement without a value, which has no plan here.
  assert.ok(read > 0 && read < 9_000, `an operation reads a whole table: ${read} rows`);
  // After a purge the index by name stays large, so the planner expects less of any other.
  await query(`delete from idempotency_keys where api_key_id = 2`);
  await query('vacuum analyze idempotency_keys');
  await explainAll();
});

/** Some values that an operation may be asked with: without and with each parameter. */
function toInputs({ parameters, body }: Operation) {
  const members = Object.entries(parameters).map(([name, { place, schema, example, parse }]) => {
    const texts = example === undefined ? toExamples(schema) : [example];
    const given = texts.map((text) => parse(String(text)));
    return [name, place === 'path' ? given : [parse(undefined), ...given]] as const;
  });
  const named = typeof body?.schema === 'string' ? COMPONENTS[body.schema] : body?.schema;
  const value = body?.parse(Object(parseJson(JSON.stringify(named?.example))));
  return combine([...members, ['body', [value]]]) as { readonly body: unknown }[];
}

function toExamples({ $ref, ...schema }: JsonSchema): readonly unknown[] {
  if ($ref !== undefined)
    return toExamples(Object(COMPONENTS)[String($ref).split('/').at(-1) ?? '']);
  return Array.isArray(schema.enum) ? schema.enum : [schema.default ?? 'x'];
}

const findAsked = (sql: string) => FILTERS.filter(({ column }) => sql.includes(`asked.${column}`));

/** The index that a list must be read by, if it has filters. */
function toIndex(sql: string): string | undefined {
  const columns = findAsked(sql).map(({ column }) => column);
  return columns.length === 0 ? undefined : `pets_${columns.join('_')}`;
}

/** The values of a parameter: few and many. */
const VALUES: Readonly<Record<string, readonly [few: string, many: string]>> = {
  bigint: ['2', '2'],
  text: [`'x'`, `'x'`],
  bytea: ['null', `'\\x00'`],
  'bigint[]': [`'{7}'`, `'{1,2,3,5,8,13,21,34,55,89}'`],
  json: [`'[]'`, `'[]'`],
};

/** Values that a statement may be asked with, as SQL. */
function toValues(sql: string, types: readonly string[]): string[] {
  if (!sql.includes('asked.count')) {
    return [0, 1].map((size) => types.map((type) => VALUES[type]?.[size]).join());
  }
  const filters = findAsked(sql).map(({ name, column }) => [column, sampleField(name)] as const);
  return combine(filters).map((values) => {
    const query = { number: 0, after: 5000, count: 21, ...values };
    const text = writeJson([query, { ...query, number: 1, after: 0, count: 101 }]);
    return `'${text}'`;
  });
}
