/** `petstore pets list`, `get`, `add`, `update` and `remove`: what they print, and what they change in the store. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { INT64_MAX, INT64_MIN } from '../../src/int64.ts';
import type { NewPet } from '../../src/pet.ts';
import { openStore } from '../../src/storage/open.ts';
import { runCommand } from '../support/command.ts';
import { runProgram } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

/** A name with white space at both ends. */
const NAME = '\u00a0é\u00a0';
const REX: NewPet = { name: 'Rex', categoryId: 3n };

/** A folder with a store of these pets. */
async function createPetFolder(newPets: readonly NewPet[]) {
  const cwd = createProcessFolder();
  const open = () => openStore(`sqlite:${cwd}/petstore.db`, { create: true });
  {
    await using store = await open();
    await store.pets.merge(ReadableStream.from(newPets));
  }
  /** Runs `pets …` to its end; the line that names the store is left out. */
  const pets = async (line: string, ...more: readonly string[]) => {
    const args = ['pets', ...line.split(' '), ...more];
    const { status, stdout, stderr } = await runCommand(args, { cwd });
    return { status, stdout, stderr: stderr.replace(`Store: sqlite:${cwd}/petstore.db\n`, '') };
  };
  return {
    path: cwd,
    pets,
    /** Runs `pets …`, which must succeed and print this. */
    async prints(line: string, stdout: string, stderr = '') {
      assert.deepEqual(await pets(line), { status: 0, stdout, stderr });
    },
    async readAll() {
      await using store = await open();
      return (await store.pets.list({ limit: 100 })).pets;
    },
  };
}

const failed = (line: string) => ({ status: 1, stdout: '', stderr: `petstore: ${line}\n` });

test('pets list › by status, in pages, as a table and as JSON › has every pet, and says when there are more', async () => {
  const folder = await createPetFolder([
    { ...REX, status: 'sold' },
    { name: 'Mia', categoryId: INT64_MAX },
    { ...REX, status: 'sold' },
  ]);
  const head = 'ID  NAME  CATEGORY ID          STATUS\n';
  await folder.prints(
    'list',
    `${head}1   Rex   3                    sold\n2   Mia   9223372036854775807  -\n3   Rex   3                    sold\n`,
  );
  const mia = '{"id":2,"name":"Mia","categoryId":9223372036854775807}';
  const more = 'There are more: --after 2 lists them.\n';
  await folder.prints('list --after 1 --limit 1 --json', `[${mia}]\n`, more);
  const sold = '{"id":3,"name":"Rex","categoryId":3,"status":"sold"}';
  await folder.prints('list --status sold --after 1 --json', `[${sold}]\n`);
  await folder.prints('list --status pending', '', 'No pets.\n');
});

test('pets list › more than twenty › has the first twenty', async () => {
  const folder = await createPetFolder(Array.from({ length: 21 }, () => REX));
  const { stdout, stderr } = await folder.pets('list');
  assert.equal(stdout.split('\n').length, 1 + 20 + 1);
  assert.equal(stderr, 'There are more: --after 20 lists them.\n');
});

test('pets get › a name that a terminal would act on › is shown without these characters, in JSON as it is', async () => {
  const name = '\u001b[31m\u009b\u202e小白\u2028"';
  const folder = await createPetFolder([{ ...REX, name }]);
  // Han takes two columns of a terminal.
  const row = '1   \ufffd[31m\ufffd\ufffd小白\ufffd"  3            -\n';
  await folder.prints('get 1', `ID  NAME           CATEGORY ID  STATUS\n${row}`);
  const { stdout } = await folder.pets('get --json 1');
  assert.deepEqual(JSON.parse(stdout), { id: 1, name, categoryId: 3 });
});

test('pets add › each field, and none but those that must be › adds exactly that and prints it', async () => {
  const folder = await createPetFolder([]);
  await folder.prints(
    `add --category-id ${INT64_MIN} --json --name=${NAME}`,
    `{"id":1,"name":"${NAME}","categoryId":-9223372036854775808}\n`,
    'Pet 1 is added.\n',
  );
  await folder.prints(
    'add --name=- --category-id=0 --status=sold',
    'ID  NAME  CATEGORY ID  STATUS\n2   -     0            sold\n',
    'Pet 2 is added.\n',
  );
  assert.deepEqual(await folder.readAll(), [
    { id: 1n, name: NAME, categoryId: INT64_MIN },
    { id: 2n, name: '-', categoryId: 0n, status: 'sold' },
  ]);
});

test('pets update › a field or several › changes these alone, and prints what was and is', async () => {
  const folder = await createPetFolder([{ ...REX, status: 'sold' }, REX]);
  const said = 'Pet 1 has the given values: every running service shows them from now on.\n';
  await folder.prints(
    'update 1 --no-status --category-id 0',
    '     ID  NAME  CATEGORY ID  STATUS\nwas  1   Rex   3            sold\nis   1   Rex   0            -\n',
    said,
  );
  await folder.prints(
    'update 1 --name Mia --status pending --json',
    '{"was":{"id":1,"name":"Rex","categoryId":0},"is":{"id":1,"name":"Mia","categoryId":0,"status":"pending"}}\n',
    said,
  );
  assert.deepEqual(await folder.readAll(), [
    { id: 1n, name: 'Mia', categoryId: 0n, status: 'pending' },
    { id: 2n, ...REX },
  ]);
});

test('pets remove › a pet › prints what it was, which --dry-run leaves', async () => {
  const folder = await createPetFolder([REX, { ...REX, status: 'sold' }]);
  const sold = '{"id":2,"name":"Rex","categoryId":3,"status":"sold"}\n';
  const planned = 'would be removed: 1 pet; nothing was changed\n';
  await folder.prints('remove 2 --json --dry-run', sold, planned);
  const said = 'Pet 2 is removed: no create gets its id again.\n';
  await folder.prints('remove 2 --json', sold, said);
  assert.deepEqual(await folder.pets('remove 2 --dry-run'), failed('there is no pet 2'));
  assert.deepEqual(await folder.readAll(), [{ id: 1n, ...REX }]);
});

test('pets remove › ids and ranges, also on standard input › prints all, which a file brings back', async () => {
  const folder = await createPetFolder(Array.from({ length: 12 }, () => REX));
  const removed = ['ID  NAME  CATEGORY ID  STATUS'];
  removed.push(...[2, 3, 4].map((id) => `${id}   Rex   3            -`), '');
  const said = '3 pets are removed: no create gets their ids again.\n';
  await folder.prints('remove 4 2-3 2', removed.join('\n'), said);
  await writeFile(join(folder.path, 'ids'), '5\n7-9, 11;12\r\n');
  const within = ['sh', '-c', '"$@" < ids', 'sh'];
  const args = ['pets', 'remove', '1', '-', '--json'];
  const { stdout } = await runProgram(args, { cwd: folder.path, within });
  const ids = Array.from(stdout.matchAll(/^\{"id":(\d+)/gm), ([, id]) => Number(id));
  assert.deepEqual(ids, [1, 5, 7, 8, 9, 11, 12]);
  const left = await folder.readAll();
  assert.deepEqual(
    left,
    [6n, 10n].map((id) => ({ id, ...REX })),
  );
  assert.deepEqual(await folder.pets('remove 6 7-9'), failed('there is no pet 7-9'));
  const turned = failed("Invalid range '9-7': the smaller id comes first.");
  assert.deepEqual(await folder.pets('remove 6 9-7'), { ...turned, status: 2 });
  assert.deepEqual(await folder.readAll(), left);
  await writeFile(join(folder.path, 'removed.ndjson'), stdout);
  await folder.pets('import removed.ndjson --by-id');
  assert.equal((await folder.readAll()).length, 9);
});

test('pets › an id that no pet has, or that is none › exits with one line', async () => {
  const folder = await createPetFolder([REX]);
  for (const command of ['get', 'update --name Mia', 'remove']) {
    assert.deepEqual(await folder.pets(command, '7'), failed('there is no pet 7'));
  }
  const told = failed("Invalid pet id '07': expected a number such as 7.");
  assert.deepEqual(await folder.pets('remove 07'), { ...told, status: 2 });
  assert.deepEqual(await folder.readAll(), [{ id: 1n, ...REX }]);
});
