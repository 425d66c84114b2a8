/** The purge of idempotency keys: what it takes away and keeps, step by step, on every engine that keeps data. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises';
import { openStore } from '../../src/storage/open.ts';
import { startPurge } from '../../src/storage/purge.ts';
import { openSqlite } from '../../src/storage/sqlite/engine.ts';
import { IDEMPOTENCY_MS } from '../../src/store.ts';
import { PATIENT } from '../support/postgres.ts';
import { countTimers } from '../support/timers.ts';
import { until } from '../support/until.ts';
import { addOnce, REQUEST, REX } from './contract/data.ts';
import { runBeside, testLasting } from './contract/engines.ts';

const ROWS_MAX = 200;
/** How long a key is kept: an hour longer than it counts. */
const KEPT_MS = IDEMPOTENCY_MS + 3_600_000;
/** Longer than a test takes. */
const MARGIN_MS = 600_000;

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
  'purge › a store of a command, and one of a service › purges never, and until it is closed',
  async (store, { address }) => {
    const openService = () => openStore(address, { create: false, isServed: true, ...PATIENT });
    await addOnce(store.pets, REX, REQUEST);
    const [live = 0] = await listTimes(address);
    assert.ok(Math.abs(Date.now() - live) < 60_000);
    await runBeside(address, toReserve(ROWS_MAX + 1, 1));
    // What never begins tells of no event: longer than the purge of a service waits.
    await setTimeout(50);
    assert.equal((await listTimes(address)).length, ROWS_MAX + 2);
    const timers = countTimers();
    const purging = await openService();
    try {
      await until(async () => (await listTimes(address)).length === 1);
    } finally {
      await purging.close();
    }
    // The next step would come in a minute; until then the process could not end.
    assert.equal(countTimers(), timers);
    assert.deepEqual(await listTimes(address), [live]);
  },
);

/** The purge of a database in memory; time passes for its timer when it is told to. */
async function purgeByTimer(t: TestContext) {
  const engine = await openSqlite(':memory:', { create: true });
  t.after(() => engine[Symbol.asyncDispose]());
  t.mock.timers.enable({ apis: ['setTimeout'] });
  // On a busy machine a commit beside reads would be followed by a pause, which is a timer too.
  const idle = { idle: 1, active: 0, utilization: 0 };
  t.mock.method(performance, 'eventLoopUtilization', () => idle);
  const write = t.mock.method(engine, 'write');
  const stop = startPurge(engine, 1_000);
  return {
    stop,
    write,
    reserve: (count: number, at: number) => engine.write({ sql: toReserve(count, at), values: [] }),
    countKeys: async () => (await engine.read(LIST)).length,
    /** The steps that were begun within that time. */
    async pass(ms: number): Promise<number> {
      const before = write.mock.callCount();
      t.mock.timers.tick(ms);
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      return write.mock.callCount() - before;
    },
  };
}

test('startPurge › 201 old keys and one that is kept › are taken away in two steps, the next is an interval later', async (t) => {
  const { pass, reserve, countKeys } = await purgeByTimer(t);
  await reserve(ROWS_MAX + 1, Date.now() - KEPT_MS);
  await reserve(1, Date.now() - KEPT_MS + MARGIN_MS);
  assert.deepEqual([await pass(19), await pass(1)], [0, 1]);
  assert.equal(await countKeys(), 2);
  assert.deepEqual([await pass(19), await pass(1)], [0, 1]);
  assert.deepEqual([await pass(999), await pass(1)], [0, 1]);
  assert.equal(await countKeys(), 1);
});

test('startPurge › a step that fails › is made up for by the next one', async (t) => {
  const { pass, reserve, countKeys, write } = await purgeByTimer(t);
  await reserve(1, Date.now() - KEPT_MS);
  write.mock.mockImplementationOnce(() => Promise.reject(new Error('the disk is away')));
  assert.deepEqual([await pass(20), await countKeys()], [1, 1]);
  // By one timer.
  assert.deepEqual([await pass(1_000), await countKeys()], [1, 0]);
});

for (const [when, ms] of [
  ['before its first step', 0],
  ['within a step', 20],
] as const) {
  test(`startPurge › stopped ${when} › takes no other`, async (t) => {
    const { pass, stop } = await purgeByTimer(t);
    t.mock.timers.tick(ms);
    stop();
    // The step that is under way ends first.
    assert.deepEqual([await pass(0), await pass(10_000)], [0, 0]);
  });
}
