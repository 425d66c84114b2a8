/** A store has the environment of its first key: what is refused, warned about and copied. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ENVIRONMENTS, type Environment } from '../../src/api-key.ts';
import { describeAddress } from '../../src/storage/address.ts';
import { openStore } from '../../src/storage/open.ts';
import { createNewKey, REX } from '../storage/contract/data.ts';
import { ENGINES, openNewStore } from '../storage/contract/engines.ts';
import { runCommand } from '../support/command.ts';
import { assertRefused, readStart, startService } from '../support/program.ts';

const PERSISTENT = ENGINES.filter(({ persists }) => persists);

/** A store with a pet and a key of each of the environments, whatever the program thinks of them. */
async function openPlace(engine: (typeof ENGINES)[number], environments: readonly Environment[]) {
  const place = await openNewStore(engine);
  const { store, folder: cwd, address } = place;
  await store.pets.add(REX);
  for (const environment of environments) await store.keys.add(createNewKey({ environment }));
  return { ...place, cwd, env: { PETSTORE_DATABASE: address } };
}

const toRefusal = (address: string, own: Environment, other: Environment) =>
  `the store ${describeAddress(address)} is of ${own}, not of ${other}: give --environment ${own}, or another --database, which petstore copy --environment ${other} can make`;

const toWarning = (environment: Environment) =>
  `the store has keys of both environments: petstore copy --environment ${environment} makes a store without the other keys`;

const createKey = (environment: Environment) =>
  `keys create --name ci --environment ${environment}`.split(' ');

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

for (const engine of PERSISTENT.slice(0, 1)) {
  test('the environment of a store › with keys of both › is warned about once at a start, and a copy leaves some out', async () => {
    await using place = await openPlace(engine, ENVIRONMENTS);
    const args = ['--environment', 'production'];
    {
      await using service = await startService([...args, '--workers', '2'], place);
      assert.equal(readStart(service).split(toWarning('production')).length, 2);
    }
    // The variable of serve changes no copy.
    const env = { PETSTORE_ENVIRONMENT: 'production' };
    const copy = ['copy', '--from', place.address, '--to'];
    const whole = await runCommand([...copy, 'sqlite:whole.db'], { ...place, env });
    assert.match(whole.stderr, /^With 2 keys\./m);
    const part = await runCommand([...copy, 'sqlite:part.db', ...args], place);
    assert.match(part.stderr, /^With 1 key\./m);
  });

  test('copy --environment › a store without such a key › is of that environment with its first key', async () => {
    await using place = await openPlace(engine, ['staging']);
    const to = `sqlite:${join(place.cwd, 'production.db')}`;
    const args = ['copy', '--from', place.address, '--to', to, '--environment', 'production'];
    const { stderr } = await runCommand(args, place);
    assert.match(stderr, /^With 0 keys\./m);
    const there = { ...place, env: { PETSTORE_DATABASE: to } };
    assert.equal((await runCommand(createKey('production'), there)).status, 0);
    const refusal = toRefusal(to, 'production', 'staging');
    assertRefused(await runCommand(createKey('staging'), there), 1, refusal);
  });
}
