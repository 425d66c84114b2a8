/** What a worker asks the primary for, what it puts back, and what it does without an answer. */

import assert from 'node:assert/strict';
import cluster from 'node:cluster';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LeasingRateLimiter } from '../../src/service/token-leases.ts';

const LIMIT = { perSecond: 1_000, burst: 1_000 };
/** What is asked for beside the token of a request: what the rate gives in 20 ms, less one. */
const MORE = 19;

/** The limiter of one of two workers, whose time passes when it is told to; what it sends, and what it is sent. */
function create(t: TestContext, limit = LIMIT) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 5_000;
  t.mock.method(performance, 'now', () => now);
  const sent: unknown[] = [];
  const { worker } = cluster;
  const send = ({ wanted }: { readonly wanted: unknown }) => sent.push(wanted);
  Object.assign(cluster, { worker: { send } });
  t.after(() => Object.assign(cluster, { worker }));
  let receive = (_message: unknown): void => undefined;
  const on = t.mock.method(process, 'on', (_name: string, listener: typeof receive) => {
    receive = listener;
    return process;
  });
  const limiter = new LeasingRateLimiter(limit, 2);
  on.mock.restore();
  return {
    sent,
    take: (keyId: number) => limiter.take(keyId),
    grant: (...granted: readonly object[]) => receive({ granted }),
    pass(ms: number) {
      now += ms;
      t.mock.timers.tick(ms);
    },
  };
}

test('LeasingRateLimiter › a lease that is not used up › answers at once, and goes back after 20 ms', async (t) => {
  const { take, grant, pass, sent } = create(t);
  const [first, other] = [take(7), take(8)];
  await nextTurn();
  assert.deepEqual(sent, [
    [
      [7, 1 + MORE],
      [8, 1 + MORE],
    ],
  ]);
  grant({ keyId: 7, taken: 20, left: 900.5 }, { keyId: 8, taken: 1, left: 0 });
  assert.deepEqual([await first, await other], [919, 0]);
  assert.equal(take(7), 918);
  pass(19);
  assert.equal(sent.length, 1);
  pass(1);
  assert.deepEqual(sent.at(1), [[7, -18]]);
  take(7);
  await nextTurn();
  assert.deepEqual(sent.at(2), [[7, 1 + MORE]]);
});

test('LeasingRateLimiter › more requests than are granted › wait for the next answer', async (t) => {
  const { take, grant, sent } = create(t);
  const taking = [take(7), take(7), take(7)];
  await nextTurn();
  grant({ keyId: 7, taken: 2, left: 0 });
  await nextTurn();
  assert.deepEqual(sent, [[[7, 3 + MORE]], [[7, 1 + MORE]]]);
  grant({ keyId: 7, taken: 0, left: 0 });
  assert.deepEqual(await Promise.all(taking), [1, 0, -1]);
});

test('LeasingRateLimiter › a key that was refused › is refused at once until there is a whole lease', async (t) => {
  // A lease is one token, which there is every 100 ms.
  const { take, grant, pass, sent } = create(t, { perSecond: 10, burst: 10 });
  const taking = take(7);
  await nextTurn();
  assert.deepEqual(sent, [[[7, 1]]]);
  grant({ keyId: 7, taken: 0, left: 0.5 });
  assert.equal(await taking, -1);
  for (let ms = 0; ms < 40; ms += 20) pass(20);
  assert.equal(take(7), -1);
  pass(10);
  take(7);
  await nextTurn();
  assert.equal(sent.length, 2);
});

test('LeasingRateLimiter › a primary that is silent for a second › is not asked until it answers', async (t) => {
  const { take, grant, pass, sent } = create(t);
  let left: number | undefined;
  const taking = Promise.resolve(take(7)).then((all) => {
    left = all;
  });
  for (let ms = 0; ms < 1_000; ms += 20) pass(20);
  await nextTurn();
  assert.equal(left, undefined);
  pass(20);
  await nextTurn();
  await taking;
  // Its share of the burst is the half.
  assert.equal(left, 499);
  pass(20);
  // What was not used has gone back to the share.
  assert.equal(await take(7), 499);
  assert.equal(sent.length, 1);
  grant();
  take(9);
  await nextTurn();
  assert.deepEqual(sent.slice(1), [[[9, 1 + MORE]]]);
});
