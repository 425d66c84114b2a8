/** The purge of idempotency keys: what it takes away and keeps, step by step, on every engine that keeps data. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises';
import { openStore } from '../../src/storage/open.ts';
import { openPostgres } from '../../src/storage/postgres/engine.ts';
import { startPurge } from '../../src/storage/purge.ts';
import { openSqlite } from '../../src/storage/sqlite/engine.ts';
import { IDEMPOTENCY_MS } from '../../src/store.ts';
import { createEmptyDatabase } from '../support/empty-database.ts';
import { PATIENT } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { addOnce, REQUEST, REX } from './contract/data.ts';
import { runBeside, testLasting } from './contract/engines.ts';

const INTERVAL_MS = 20;
const ROWS_MAX = 200;
const NOW = REQUEST.at;
/** How long a key is kept: an hour longer than it counts. */
const KEPT_MS = IDEMPOTENCY_MS + 3_600_000;

/** SQL that adds so many idempotency keys of that time. */
const toReserve = (count: number, at: number) => `
  with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${count})
    insert into idempotency_keys (api_key_id, name, created_at)
    select 7, '${at}-' || n, ${at} from numbers`;

const LIST = 'select created_at as at from idempotency_keys order by created_at';

async function listTimes(address: string): Promise<number[]> {
  return (await runBeside(address, LIST)).map((row) => Number(Object(row).at));
}

testLasting(
  'purge › a store without a clock, and one with a clock › purges never, and until it is closed',
  async (store, { address }) => {
    const openService = () =>
      openStore(address, { create: false, serviceClock: Date.now, ...PATIENT });
    const live = Date.now() - 1_000;
    await addOnce(store.pets, REX, { ...REQUEST, at: live });
    await runBeside(address, toReserve(1_200, 1));
    await setTimeout(200);
    assert.equal((await listTimes(address)).length, 1_201);
    const purging = await openService();
    try {
      await until(async () => (await listTimes(address)).length === 1);
    } finally {
      await purging.close();
    }
    await (await openService()).close();
    await runBeside(address, toReserve(1, 1));
    await setTimeout(200);
    assert.deepEqual(await listTimes(address), [1, live]);
  },
);

describe("a clock that differs from PostgreSQL's", { timeout: 30_000 }, () => {
  const HOUR_MS = 3_600_000;
  const message = (side: string) =>
    new RegExp(
      `the clock of this machine is (?:89999|9000[01]) s ${side} the clock of the database: at most 60 s are allowed$`,
    );

  for (const [sign, side] of [
    [1, 'ahead of'],
    [-1, 'behind'],
  ] as const) {
    test(`a clock that differs from PostgreSQL's › ${side} it at the start › is refused by 25 h, accepted by 40 s`, async () => {
      await using database = await createEmptyDatabase();
      await assert.rejects(
        database.open({ serviceClock: () => Date.now() + sign * 25 * HOUR_MS }),
        { name: 'PetstoreError', code: 'unavailable', message: message(side) },
      );
      await database.open({ serviceClock: () => Date.now() + sign * 40_000 });
    });
  }

  test("a clock that differs from PostgreSQL's › 25 h while it purges › keeps all until it is right, and says so each time", async () => {
    await using database = await createEmptyDatabase();
    const { pets } = await database.open();
    const { address } = database;
    const live = Date.now() - HOUR_MS;
    await addOnce(pets, REX, { ...REQUEST, at: live });
    await database.query(toReserve(1, live - IDEMPOTENCY_MS));
    await using engine = await openPostgres(address, { create: false, ...PATIENT });
    let aheadMs = 25 * HOUR_MS;
    const warnings: string[] = [];
    const now = () => Date.now() + aheadMs;
    const stop = startPurge(engine, now, (warning) => warnings.push(warning), INTERVAL_MS);
    try {
      await until(() => warnings.length === 2);
      assert.deepEqual(await listTimes(address), [live - IDEMPOTENCY_MS, live]);
      assert.match(warnings[0] ?? '', /^no idempotency key is purged: /);
      assert.match(warnings[0] ?? '', message('ahead of'));
      aheadMs = 0;
      await until(async () => (await listTimes(address)).length === 1);
      assert.deepEqual(await listTimes(address), [live]);
    } finally {
      stop();
    }
  });
});

/** The purge of a database in memory by a clock of its own, whose time passes when it is told to. */
async function purgeByClock(t: TestContext) {
  const engine = await openSqlite(':memory:', { create: true });
  t.after(() => engine[Symbol.asyncDispose]());
  t.mock.timers.enable({ apis: ['setTimeout'] });
  // On a busy machine a commit beside reads would be followed by a pause, which is a timer too.
  const idle = { idle: 1, active: 0, utilization: 0 };
  t.mock.method(performance, 'eventLoopUtilization', () => idle);
  let now = NOW;
  const write = t.mock.method(engine, 'write');
  const stop = startPurge(engine, () => now, undefined, 1_000);
  return {
    stop,
    write,
    reserve: (count: number, at: number) => engine.write({ sql: toReserve(count, at), values: [] }),
    listTimes: async () => (await engine.read(LIST)).map(([at]) => Number(at) - NOW),
    /** The steps that were begun within that time. */
    async pass(ms: number): Promise<number> {
      const before = write.mock.callCount();
      now += ms;
      t.mock.timers.tick(ms);
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      return write.mock.callCount() - before;
    },
  };
}

describe('startPurge', () => {
  test('startPurge › 201 old keys › are taken away in two steps, the next is an interval later', async (t) => {
    const { pass, reserve, listTimes } = await purgeByClock(t);
    await reserve(ROWS_MAX + 1, NOW + 20 - KEPT_MS);
    await reserve(1, NOW + 21 - KEPT_MS);
    assert.deepEqual([await pass(19), await pass(1)], [0, 1]);
    assert.equal((await listTimes()).length, 2);
    assert.deepEqual([await pass(19), await pass(1)], [0, 1]);
    assert.deepEqual([await pass(999), await pass(1)], [0, 1]);
    assert.deepEqual(await listTimes(), []);
  });

  test('startPurge › a step that fails › is made up for by the next one', async (t) => {
    const { pass, reserve, listTimes, write } = await purgeByClock(t);
    await reserve(1, NOW - KEPT_MS);
    write.mock.mockImplementationOnce(() => Promise.reject(new Error('the disk is away')));
    await pass(20);
    assert.equal((await listTimes()).length, 1);
    await pass(1_000);
    assert.deepEqual(await listTimes(), []);
  });

  for (const [when, ms] of [
    ['before its first step', 0],
    ['within a step', 20],
  ] as const) {
    test(`startPurge › stopped ${when} › takes no other`, async (t) => {
      const { pass, stop } = await purgeByClock(t);
      t.mock.timers.tick(ms);
      stop();
      // The step that is under way ends first.
      assert.deepEqual([await pass(0), await pass(10_000)], [0, 0]);
    });
  }
});
