/** A SQLite store that Litestream replicates while pets are added: what a restore has, and that the original still starts. */

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../durability/client.ts';
import { type Create, createHistory } from '../durability/history.ts';
import { listAll } from '../outages/petstore.ts';
import { type RunningService, startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { installLitestream, readSteps } from './litestream.ts';

/** As docs/operations.md says. */
const LOST_MS_MAX = 5_000;
const CREATES_MS = 3 * LOST_MS_MAX;
const ROUNDS = 3;
const CLIENTS = 8;
/** So that one round adds some thousands of pets. */
const PAUSE_MS = 10;

let bin: string;
before(async () => {
  bin = await installLitestream();
});

const start = (cwd: string, file: string) =>
  startService(['--log-level', 'silent', '--database', `sqlite:${file}`], { cwd });

/** Starts clients that add pets until the service is gone or they are stopped. */
function startCreates({ port }: RunningService, key: string) {
  const history = createHistory();
  const wrong: string[] = [];
  const client = createClient({ random: () => 0, key, ports: [port] }, history, wrong);
  let isStopping = false;
  const clients = Array.from({ length: CLIENTS }, async (_, place) => {
    for (let count = 0; !isStopping; count += 1) {
      const create = client.plan(`${place}/${count}/${performance.now()}`);
      if (!(await client.create(create, false))) return;
      await sleep(PAUSE_MS);
    }
  });
  return async () => {
    isStopping = true;
    await Promise.all(clients);
    assert.deepEqual(wrong, []);
    return history.creates.filter(({ id }) => id !== undefined);
  };
}

const listNames = async (service: RunningService, key: string) =>
  new Map(await listAll(service, key));

/** The creates whose pets the store has not, or has otherwise. */
const findLost = (created: readonly Create[], names: ReadonlyMap<number, string>) =>
  created.filter(({ id = 0, name }) => names.get(id) !== name);

for (const how of ['killed', 'stopped'] as const) {
  test(`Litestream › it and the service ${how} ${ROUNDS} times during creates › loses no more than documented`, async (t) => {
    const cwd = createProcessFolder();
    const steps = await readSteps(cwd, bin);
    let key = '';
    for (let round = 1; round <= ROUNDS; round += 1) {
      await using service = await start(cwd, 'petstore.db');
      if (round === 1) key = service.key;
      const earlier = await listNames(service, key);
      await using litestream = await steps.replicate();
      const stop = startCreates(service, key);
      await sleep(CREATES_MS);
      if (how === 'stopped') await stop();
      const endedAt = performance.now();
      const signal = how === 'killed' ? 'SIGKILL' : 'SIGTERM';
      service.process.kill(signal);
      if (how === 'stopped') await service.finished;
      await litestream.end(signal);
      await service.finished;
      const created = await stop();

      await steps.restore();
      {
        await using original = await start(cwd, 'lost/petstore.db');
        assert.deepEqual(findLost(created, await listNames(original, key)), []);
      }
      await using restored = await start(cwd, 'petstore.db');
      const names = await listNames(restored, key);
      const lost = findLost(created, names);
      const oldest = Math.max(0, ...lost.map(({ to = 0 }) => endedAt - to));
      t.diagnostic(
        `${created.length} acknowledged, ${lost.length} lost, within ${Math.round(oldest)} ms`,
      );
      assert.ok(oldest <= (how === 'killed' ? LOST_MS_MAX : 0), `${oldest} ms`);
      assert.ok(created.length > lost.length, 'nothing was replicated');
      for (const [id, name] of earlier) assert.equal(names.get(id), name);
      assert.deepEqual(
        [...names.keys()],
        Array.from(names.keys(), (_, index) => index + 1),
      );
      await rm(join(cwd, 'lost'), { recursive: true });
    }
  });
}
