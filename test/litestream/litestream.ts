/** The real Litestream, and what docs/operations.md says to do with it. */

import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { installPython, ROOT, run } from '../../scripts/run.ts';

/** The oldest version that the documentation names. */
const MODULE = 'github.com/benbjohnson/litestream/cmd/litestream@v0.5.18';
const BIN = join(ROOT, '.cache/litestream');
const OPERATIONS = join(ROOT, 'docs/operations.md');

/** The folder of the program, empty when it is in the PATH; it is built at the first call. */
export async function installLitestream(): Promise<string> {
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
export async function readSteps(folder: string, bin: string) {
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
    restore: () => promisify(execFile)('sh', ['-euc', restore], { env }),
  };
}
