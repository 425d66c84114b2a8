/** A store has the environment of its first key: what is refused, and warned about. */

import assert from 'node:assert/strict';
import { ENVIRONMENTS, type Environment } from '../../src/api-key.ts';
import { describeAddress } from '../../src/storage/address.ts';
import { openStore } from '../../src/storage/open.ts';
import { createNewKey } from '../storage/contract/data.ts';
import { testLasting } from '../storage/contract/engines.ts';

testLasting(
  'the environment of a store › of staging › is not opened as production, unless its only key is revoked',
  async ({ keys }, { address }) => {
    const told: string[] = [];
    const open = async (environment: Environment) =>
      (await openStore(address, { environment, warn: (line) => told.push(line) })).close();
    const refuses = (own: Environment, other: Environment, remedy = '') => {
      const message = `the store ${describeAddress(address)} is of ${own}, not of ${other}: give --environment ${own}, or another --database, which petstore copy --environment ${other} can make${remedy}`;
      return assert.rejects(open(other), { code: 'bad_request', message });
    };
    await keys.add(createNewKey({ environment: 'staging' }));
    await refuses('staging', 'production', ', or revoke its only key (1) if it is wrong');
    await keys.revoke(1, 1);
    for (const environment of ENVIRONMENTS) await open(environment);
    await keys.add(createNewKey({ environment: 'production' }));
    await refuses('production', 'staging');
    await keys.revoke(2, 1);
    await refuses('production', 'staging');
    await open('production');
    assert.deepEqual(told, []);
    await keys.add(createNewKey({ environment: 'staging' }));
    for (const environment of ENVIRONMENTS) await open(environment);
    assert.deepEqual(
      told,
      ENVIRONMENTS.map(
        (environment) =>
          `the store has keys of both environments: petstore copy --environment ${environment} makes a store without the other keys`,
      ),
    );
  },
);
