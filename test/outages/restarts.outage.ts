/** Two replicas whose database is restarted again and again during creates, lists and gets. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLoad } from './load.ts';
import * as petstore from './petstore.ts';

const RESTARTS = Number(process.env.TEST_RESTARTS ?? 4);
const SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const;

test(`restarts › ${RESTARTS} during creates › lose, double and renumber none`, async (t) => {
  await using cluster = await petstore.startDatabase();
  const address = petstore.toAddress([petstore.toHost(cluster)]);
  await using replicas = await petstore.startReplicas([address, address]);
  const load = startLoad(replicas, { prefix: 'restarts', clients: 3 });
  let slowestReturnMs = 0;
  try {
    for (let count = 0; count < RESTARTS; count += 1) {
      // Another moment of the work each time.
      await sleep(300 + ((count * 37) % 100));
      await cluster.stop(SIGNALS[count % SIGNALS.length]);
      await cluster.start();
      slowestReturnMs = Math.max(slowestReturnMs, await load.waitForReturn(performance.now()));
    }
    await load.stop();
    const unanswered = await petstore.assertKept(replicas);
    t.diagnostic(
      `${replicas.created.size} creates acknowledged and kept, ${unanswered} kept without a 201, ${load.refusals} of ${load.answers} answers 503, slowest answer ${load.slowestMs} ms, slowest return ${slowestReturnMs} ms`,
    );
    assert.deepEqual(load.violations, []);
    petstore.assertAliveAndSecret(replicas);
  } finally {
    await load.stop();
  }
});
