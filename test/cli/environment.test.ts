/** A store has the environment of its first key: what is refused, and warned about. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENVIRONMENTS, type Environment } from '../../src/api-key.ts';
import { describeAddress } from '../../src/storage/address.ts';
import { openStore } from '../../src/storage/open.ts';
import { createNewKey, REX } from '../storage/contract/data.ts';
import { ENGINES, openNewStore } from '../storage/contract/engines.ts';

const PERSISTENT = ENGINES.filter(({ persists }) => persists);

/** A store with a pet and a key of each of the environments, whatever the program thinks of them. */
async function openPlace(engine: (typeof ENGINES)[number], environments: readonly Environment[]) {
  const place = await openNewStore(engine);
  await place.store.pets.add(REX);
  for (const environment of environments) await place.store.keys.add(createNewKey({ environment }));
  return place;
}

const toRefusal = (address: string, own: Environment, other: Environment) =>
  `the store ${describeAddress(address)} is of ${own}, not of ${other}: give --environment ${own}, or another --database, which petstore copy --environment ${other} can make`;

const toWarning = (environment: Environment) =>
  `the store has keys of both environments: petstore copy --environment ${environment} makes a store without the other keys`;

for (const engine of PERSISTENT) {
  const kind = engine.name;
  test(`the environment of a store on ${kind} › of staging › is not opened as production, unless its only key is revoked`, async () => {
    await using place = await openPlace(engine, ['staging']);
    const { keys } = place.store;
    const told: string[] = [];
    const open = async (environment: Environment) =>
      (await openStore(place.address, { environment, warn: (line) => told.push(line) })).close();
    const refuses = (own: Environment, other: Environment, remedy = '') => {
      const message = toRefusal(place.address, own, other) + remedy;
      return assert.rejects(open(other), { code: 'bad_request', message });
    };
    await refuses('staging', 'production', ', or revoke its only key (1) if it is wrong');
    await keys.revoke(1, 1);
    for (const environment of ENVIRONMENTS) await open(environment);
    await keys.add(createNewKey({ environment: 'production' }));
    await refuses('production', 'staging');
    await keys.revoke(2, 1);
    await refuses('production', 'staging');
    await open('production');
    assert.deepEqual(told, []);
  });

  test(`the environment of a store on ${kind} › with keys of both › is opened as each, with a warning`, async () => {
    await using place = await openPlace(engine, ENVIRONMENTS);
    for (const environment of ENVIRONMENTS) {
      const told: string[] = [];
      const warn = (line: string) => told.push(line);
      await using _opened = await openStore(place.address, { environment, warn });
      assert.deepEqual(told, [toWarning(environment)]);
    }
  });
}
