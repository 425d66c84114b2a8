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
  test(`the environment of a store on ${kind} › of staging, also when its key is revoked › is not opened as production`, async () => {
    await using place = await openPlace(engine, ['staging']);
    const message = toRefusal(place.address, 'staging', 'production');
    for (const isRevoked of [false, true]) {
      if (isRevoked) await place.store.keys.revoke(1, 1);
      const opening = openStore(place.address, { environment: 'production' });
      await assert.rejects(opening, { code: 'bad_request', message });
      await using _opened = await openStore(place.address, { environment: 'staging' });
    }
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
