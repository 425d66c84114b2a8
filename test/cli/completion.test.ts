/** The completion of `petstore completion` in real shells; those that are not installed are skipped. */

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { runCommand } from '../support/command.ts';
import { runProgram } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const run = promisify(execFile);

/** What each shell completes: a line for each word. Of bash and zsh the function is called as they call it. */
const SHELLS = {
  bash: [
    '--norc',
    '-c',
    `compopt() { echo pets.csv; }
    source ./script.bash
    COMP_WORDS=(petstore "$@") COMP_CWORD=$#
    _petstore
    printf '%s\\n' "\${COMPREPLY[@]}"`,
    'bash',
  ],
  zsh: [
    '-f',
    '-c',
    `compdef() { :; }
    compset() { PREFIX=\${PREFIX#*=}; }
    _files() { print pets.csv; }
    _describe() { for word in "\${(@P)2}"; do [[ $word == $PREFIX* ]] && print -r -- "\${word%%:*}"; done; :; }
    source ./script.zsh
    words=(petstore "$@") CURRENT=$(($# + 1)) PREFIX=\${@[-1]}
    _petstore`,
    'zsh',
  ],
  fish: ['--no-config', '-c', 'source ./script.fish; complete -C "petstore $argv"', '--'],
} as const;

for (const [shell, args] of Object.entries(SHELLS)) {
  const isThere = spawnSync(shell, ['--version']).status === 0;
  const skip = isThere ? false : `${shell} is not installed`;

  describe(`completion ${shell}`, { skip }, () => {
    const cwd = createProcessFolder();
    before(async () => {
      const { stdout, status } = await runProgram(['completion', shell], { cwd });
      assert.equal(status, 0);
      await writeFile(join(cwd, `script.${shell}`), stdout);
      await writeFile(join(cwd, 'pets.csv'), '');
    });

    const complete = async (...words: readonly string[]): Promise<string[]> => {
      const { stdout, stderr } = await run(shell, [...args, ...words], { cwd });
      assert.equal(stderr, '');
      const lines = stdout.split('\n').filter((line) => line !== '');
      return lines.map((line) => line.replace(/\t.*/, '')).toSorted();
    };

    for (const [words, expected] of [
      [['k'], ['keys']],
      [
        ['keys', 'r'],
        ['revoke', 'rotate'],
      ],
      [
        ['serve', '--environment', ''],
        ['production', 'staging'],
      ],
      [['serve', '--port', '1', '--log-level', 's'], ['silent']],
      [
        ['serve', '--rate-l'],
        ['--rate-limit', '--rate-limit-burst'],
      ],
      [['keys', 'create', '--name', 'list', '--read'], ['--read-only']],
      [['completion', 'z'], ['zsh']],
      [['pets', 'import', 'pets.c'], ['pets.csv']],
      [['--env-file', 'pets.c'], ['pets.csv']],
      [['--env-file', 'pets.csv', 'ope'], ['openapi']],
      [['serve', '--port', ''], []],
      [['keys', 'x'], []],
    ] as const) {
      test(`completion ${shell} › ${words.join(' ')} › is completed to ${expected}`, async () => {
        assert.deepEqual(await complete(...words), expected);
      });
    }

    test(`completion ${shell} › a value behind = › is completed`, async () => {
      const words = shell === 'bash' ? ['--environment', '=', 'p'] : ['--environment=p'];
      const [found, ...others] = await complete('serve', ...words);
      assert.equal(found, shell === 'fish' ? '--environment=production' : 'production');
      assert.deepEqual(others, []);
    });

    test(`completion ${shell} › no word yet › has all commands of the help`, async () => {
      const { stdout } = await runCommand(['--help'], { cwd });
      const [, commands = ''] = /\nCommands:\n([\s\S]*?)\n\n/.exec(stdout) ?? [];
      const names = [...commands.matchAll(/^ {2}(\w+)/gm)].map(([, name = '']) => name);
      assert.ok(names.includes('completion') && names.includes('serve'));
      const found = await complete('');
      assert.deepEqual(
        found.filter((word) => !word.startsWith('-')),
        names.toSorted(),
      );
    });
  });
}

test('completion › another shell › exits with 2', async () => {
  const { status, stderr } = await runCommand(['completion', 'csh'], {
    cwd: createProcessFolder(),
  });
  assert.equal(status, 2);
  assert.match(stderr, /Allowed choices are bash, zsh, fish\.\n$/);
});
