/** Two replicas whose database is restarted again and again during creates, lists and gets. */

import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { endure } from './endure.ts';
import * as petstore from './petstore.ts';

const RESTARTS = Number(process.env.TEST_RESTARTS ?? 4);
const SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const;

test(`restarts › ${RESTARTS} during creates › lose, double and renumber none`, async (t) => {
  await using cluster = await petstore.startDatabase();
  const address = petstore.toAddress([petstore.toHost(cluster)]);
  await using replicas = await petstore.startReplicas([address, address]);
  for (let count = 0; count < RESTARTS; count += 1) {
    const outage = async () => {
      // Another moment of the work each time.
      await sleep((count * 37) % 100);
      await cluster.stop(SIGNALS[count % SIGNALS.length]);
      return () => cluster.start();
    };
    await endure(t, replicas, { name: `restart ${count}`, outage, awayMs: 0, clients: 3 });
  }
});
