/** docs/data.md is true: its commands, in their order, do what it says. */

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { INT64_MAX } from '../../src/int64.ts';
import { openStore } from '../../src/storage/open.ts';
import { runCommand } from '../support/command.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const PAGE = new URL('../../docs/data.md', import.meta.url);

test('docs/data.md › its commands in their order › do what it says', async () => {
  const cwd = createProcessFolder();
  const file = (name: string) => join(cwd, name);
  const page = await readFile(PAGE, 'utf8');
  assert.ok(page.split(/\s+/).length <= 500);
  const [, csv = ''] = /```csv\n([\s\S]*?)```/.exec(page) ?? [];
  await writeFile(file('pets.csv'), csv);
  const said: string[] = [];
  for (const [, commands = ''] of page.matchAll(/```sh\n([\s\S]*?)```/g)) {
    for (const command of commands.trim().split('\n')) {
      if (command.includes('list.csv --update --dry-run')) {
        const list = await readFile(file('list.csv'), 'utf8');
        await writeFile(file('list.csv'), list.replace('Rex;3', 'Max;3').concat(';Mia;7;\n'));
      }
      const [line = '', target] = command.split(' > ');
      const [program, ...args] = line.split(' ');
      assert.equal(program, 'petstore');
      const { status, stdout, stderr } = await runCommand(args, { cwd });
      assert.equal(status, 0, `${command}: ${stderr}`);
      if (target) await writeFile(file(target), stdout);
      said.push(...stderr.split('\n').filter((line) => line !== '' && !line.includes('tore: ')));
    }
  }
  assert.deepEqual(said, [
    'would be: imported 2 pets; nothing was changed',
    'imported 2 pets',
    'new ids 1 to 2',
    'exported 2 pets',
    'exported 0 pets',
    'change name of 1 pet',
    'would be: 1 added, 1 corrected, 1 unchanged; nothing was changed',
    'change name of 1 pet',
    '1 added, 1 corrected, 1 unchanged',
    'new id 3',
    'change name of 1 pet',
    '0 added, 1 corrected, 0 unchanged',
    'would be removed: 2 pets; nothing was changed',
    '2 pets are removed: no create gets their ids again.',
    '2 added, 0 corrected, 0 unchanged',
  ]);
  await using store = await openStore(`sqlite:${file('petstore.db')}`, {});
  assert.deepEqual((await store.pets.list({ limit: 9 })).pets, [
    { id: 1n, name: 'Rex', categoryId: 3n, status: 'available' },
    { id: 2n, name: '小白', categoryId: INT64_MAX },
    { id: 3n, name: 'Mia', categoryId: 7n },
  ]);
});
