/** Ten replicas that start at the same time on an empty database. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queryOnce } from '../support/postgres-cluster.ts';
import { OPERATIONS, startLoad } from './load.ts';
import * as petstore from './petstore.ts';

const REPLICAS = 10;

// Whether two of them meet is a matter of chance.
for (const time of ['first', 'second', 'third']) {
  test(`start › ${REPLICAS} replicas at once, the ${time} time › make one schema and count as one`, async () => {
    await using cluster = await petstore.startDatabase({ max_connections: '150' });
    const address = petstore.toAddress([petstore.toHost(cluster)]);
    const addresses = Array(REPLICAS).fill(address);
    await using replicas = await petstore.startReplicas(addresses, ['--log-level', 'warn']);
    const { services } = replicas;
    assert.equal(services.filter(({ key }) => key !== '').length, 1);
    const versions = await queryOnce(cluster.url('petstore'), 'select from petstore_schema');
    assert.equal(versions.rowCount, 1);

    const load = startLoad(replicas, 'ten', 1);
    // Ten cold processes that connect at once may refuse requests at first.
    await load.waitForReturn(performance.now());
    await load.stop();
    assert.deepEqual(load.violations, []);
    assert.ok((await petstore.assertKept(replicas)) <= load.countRefusals(...OPERATIONS));
    petstore.assertAliveAndSecret(replicas);
    for (const { output } of services) assert.equal(output.stderr, '');
  });
}
