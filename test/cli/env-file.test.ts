/** Variables from a file: `--env-file`. */

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runCommand } from '../support/command.ts';
import { assertRefused, readStart, runProgram, startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
/** A command that waits for a pipe would not end at all. */
const REFUSED_MS_MAX = 20_000;

const cwd = createProcessFolder();

async function write(name: string, text: string): Promise<string> {
  await writeFile(join(cwd, name), text);
  return name;
}

describe('--env-file', { concurrency: 2 }, () => {
  test('--env-file › a variable of it › is used, unless it is set already or by a flag', async () => {
    const text = '# of keys\nPETSTORE_ENVIRONMENT="production"\nPETSTORE_DATABASE=sqlite:file.db\n';
    const file = await write('keys.env', text);
    const create = ['keys', 'create', '--name', 'ci'];
    for (const [args, env, environment] of [
      [[], { PETSTORE_ENV_FILE: file }, 'production'],
      [[`--env-file=${file}`], { PETSTORE_ENVIRONMENT: 'staging' }, 'staging'],
      [['--env-file', file, '--environment', 'staging'], {}, 'staging'],
    ] as const) {
      await rm(join(cwd, 'file.db'), { force: true });
      const { status, stderr } = await runProgram([...create, ...args], { cwd, env });
      assert.equal(status, 0, stderr);
      assert.ok(stderr.includes(`(ci) for ${environment},`), stderr);
      assert.match(stderr, /tore: sqlite:.*\/file\.db\n$/);
    }
  });

  test('--env-file › a mistyped variable › exits with 2 and one line', async () => {
    const file = await write('mistyped.env', 'PETSTORE_DATABAS=sqlite:x.db\n');
    const env = { PETSTORE_ENV_FILE: file };
    const line = 'unknown variable PETSTORE_DATABAS: did you mean PETSTORE_DATABASE?';
    assertRefused(await runCommand(['keys', 'list'], { cwd, env }), 2, line);
  });

  execFileSync('mkfifo', [join(cwd, 'pipe.env')]);
  for (const [what, file] of [
    ['no file', 'none.env'],
    ['a folder', '.'],
    ['a pipe', 'pipe.env'],
    ['a device', '/dev/null'],
  ] as const) {
    test(`--env-file › ${what} › exits at once with 2 and one line`, async () => {
      // As a variable: Node itself would read the flag.
      const options = { cwd, env: { PETSTORE_ENV_FILE: file }, runMsMax: REFUSED_MS_MAX };
      const line = `option '--env-file <file>' value '${file}' from env 'PETSTORE_ENV_FILE' is invalid. It must be a file that can be read.`;
      assertRefused(await runProgram(['keys', 'list'], options), 2, line);
    });
  }

  test('--env-file › no file, by the scripts of the checkout › is told by the petstore and not by Node', async () => {
    const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    for (const script of ['start', 'petstore']) {
      const [, ...args] = scripts[script].split(' ');
      const { status, stderr } = spawnSync(
        process.execPath,
        [...args, 'keys', 'list', '--env-file', 'none.env'],
        { cwd: ROOT, encoding: 'utf8', timeout: 45_000, killSignal: 'SIGKILL' },
      );
      assert.match(stderr, /^petstore: [^\n]+\n$/);
      assert.equal(status, 2);
    }
  });

  test('--env-file › deploy/env.example as it stands › serves production', async () => {
    const file = join(ROOT, 'deploy/env.example');
    await using service = await startService(
      ['--database', 'sqlite::memory:', '--env-file', file],
      { cwd },
    );
    assert.match(readStart(service), /\(production, new store sqlite::memory:\)/);
  });
});
