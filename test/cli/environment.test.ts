/** A store has the environment of its first key: what the real program refuses, warns about and copies. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ENVIRONMENTS, type Environment } from '../../src/api-key.ts';
import { describeAddress } from '../../src/storage/address.ts';
import { createNewKey, REX } from '../storage/contract/data.ts';
import { ENGINES, openNewStore } from '../storage/contract/engines.ts';
import { runCommand } from '../support/command.ts';
import { assertRefused, readStart, runProgram, startService } from '../support/program.ts';

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

const createKey = (environment: Environment) => [
  ...['keys', 'create', '--name', 'ci', '--environment', environment],
];

for (const engine of ENGINES.filter(({ persists }) => persists)) {
  const kind = engine.name;
  describe(`the environment of a store on ${kind}`, () => {
    for (const own of ENVIRONMENTS) {
      const other = own === 'staging' ? 'production' : 'staging';

      test(`the environment of a store on ${kind} › of ${own}, also when its key is revoked › is not served or given keys as ${other}`, async () => {
        await using place = await openPlace(engine, [own]);
        const line = toRefusal(place.address, own, other);
        for (const isRevoked of [false, true]) {
          const before = isRevoked ? ['keys', 'revoke', '1'] : ['keys', 'list'];
          assert.equal((await runCommand(before, place)).status, 0);
          const serve = ['serve', '--port', '0', '--environment', other];
          assertRefused(await runProgram(serve, place), 1, line);
          assertRefused(await runCommand(createKey(other), place), 1, line);
        }
        assert.equal((await runCommand(createKey(own), place)).status, 0);
      });
    }

    test(`the environment of a store on ${kind} › with keys of both › is warned about at each start, until a copy leaves some out`, async () => {
      await using place = await openPlace(engine, ENVIRONMENTS);
      const warning = (environment: Environment) =>
        `the store has keys of both environments: petstore copy --environment ${environment} makes a store without the other keys`;
      for (const environment of ENVIRONMENTS) {
        const args = ['--environment', environment, '--workers', '2'];
        await using service = await startService(args, place);
        assert.equal(readStart(service).split(warning(environment)).length, 2);
        assert.equal((await runCommand(createKey(environment), place)).status, 0);
      }

      // The variable of serve changes no copy.
      const env = { PETSTORE_ENVIRONMENT: 'production' };
      const copy = ['copy', '--from', place.address, '--to'];
      const whole = await runCommand([...copy, 'sqlite:whole.db'], { ...place, env });
      assert.match(whole.stderr, /^With 4 keys\./m);
      const args = ['--environment', 'production'];
      const part = await runCommand([...copy, 'sqlite:part.db', ...args], place);
      assert.match(part.stderr, /^With 2 keys\./m);
      const there = { ...place, env: { PETSTORE_DATABASE: 'sqlite:part.db' } };
      await using service = await startService(args, there);
      assert.ok(!readStart(service).includes('both environments'));
      const { stdout } = await runCommand(['pets', 'export'], there);
      assert.equal(stdout, '{"id":1,"name":"Rex","categoryId":1}\n');
    });

    test(`copy --environment from ${kind} › a store without such a key › is of that environment with its first key`, async () => {
      await using place = await openPlace(engine, ['staging']);
      const to = `sqlite:${join(place.cwd, 'production.db')}`;
      const args = ['copy', '--from', place.address, '--to', to, '--environment', 'production'];
      const { status, stderr } = await runCommand(args, place);
      assert.equal(status, 0, stderr);
      assert.match(stderr, /^With 0 keys\./m);
      const again = await runCommand(['copy', '--from', to, '--to', 'sqlite:again.db'], place);
      assert.match(again.stderr, /^With 0 keys\..*\nFrom /m);
      const there = { ...place, env: { PETSTORE_DATABASE: to } };
      assert.equal((await runCommand(createKey('production'), there)).status, 0);
      const refusal = toRefusal(to, 'production', 'staging');
      assertRefused(await runCommand(createKey('staging'), there), 1, refusal);
    });
  });
}
