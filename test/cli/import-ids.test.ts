/** `petstore pets import`: what becomes of the ids of a file. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { open, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { runCommand } from '../support/command.ts';
import { startProgram } from '../support/program.ts';
import { createFolder, createProcessFolder } from '../support/temporary-folder.ts';
import { until, within } from '../support/until.ts';

describe('pets import', () => {
  const cwd = createProcessFolder();
  let stores = 0;

  /** Runs an import of the text into a new store, or into that of the name. */
  async function importText(
    text: string,
    { format = 'csv', to = '', flags = [] as string[] } = {},
  ) {
    stores += 1;
    const store = to || `store${stores}.db`;
    await writeFile(join(cwd, 'pets'), text);
    const args = ['pets', 'import', 'pets', '--format', format, '--database', `sqlite:${store}`];
    const { status, stderr } = await runCommand([...args, ...flags], { cwd });
    const lines = stderr.split('\n');
    return { status, lines: lines.slice(0, -1), store };
  }

  const list = async (store: string) => {
    const args = ['pets', 'export', '--format', 'csv', '--database', `sqlite:${store}`];
    return (await runCommand(args, { cwd })).stdout;
  };

  const HEAD = 'id,name,categoryId,status\n';
  const KEEP = ['--keep-ids'];
  const SKIP = ['--skip-existing'];

  const NOT_KEPT = 'the ids in the file were not kept';
  for (const [what, text, line] of [
    ['a row', `${HEAD}7,Rex,1,\n`, `1 pet added with the new id 2; ${NOT_KEPT}`],
    [
      'some rows',
      `${HEAD},Rex,1,\nx,Tom,1,\n,Mia,1,\n`,
      `3 pets added with new ids 2 to 4; ${NOT_KEPT}`,
    ],
    ['no row', `${HEAD},Rex,1,\n`, undefined],
  ] as const) {
    test(`pets import › ids in ${what} › are not kept, which is told`, async () => {
      const { store } = await importText('name,categoryId\nRex,1\n');
      const { status, lines } = await importText(text, { to: store });
      assert.equal(status, 0);
      assert.match(lines[0] ?? '', /^imported \d pets?$/);
      assert.equal(lines.length === 3 ? lines[1] : undefined, line);
    });
  }

  test('pets import --keep-ids › a file in any order › keeps its ids, and refuses them a second time', async () => {
    const text = `${HEAD}9,Rex,1,sold\n2,Tom,1,\n`;
    const { status, lines, store } = await importText(text, { flags: KEEP });
    assert.deepEqual({ status, said: lines[0] }, { status: 0, said: 'imported 2 pets' });
    const again = await importText(text, { flags: KEEP, to: store });
    assert.deepEqual(again.lines, [
      'petstore: the store has pets with the same ids, such as 2, 9; nothing was imported',
    ]);
    const skipped = await importText(`${text}3,Mia,4,\n`, { flags: SKIP, to: store });
    assert.deepEqual(skipped.lines.slice(0, -1), [
      'imported 1 pet',
      '2 pets left out: the store has them already',
    ]);
    const changed = await importText(`${HEAD}8,Tom,1,\n9,Rex,1,\n`, { flags: SKIP, to: store });
    assert.deepEqual(changed.lines, [
      'petstore: the store has other pets with the same ids, such as 9; nothing was imported',
    ]);
    assert.equal(await list(store), `${HEAD}2,Tom,1,\n3,Mia,4,\n9,Rex,1,sold\n`);
  });

  const TOM = '"name":"Tom","categoryId":1';
  const WRONG = 'id must be a whole number from 1 to 9223372036854775806';
  for (const [what, format, text, place] of [
    ['a row of CSV without an id', 'csv', `${HEAD}1,Rex,1,\n,Tom,1,\n`, 'line 3: id is required'],
    [
      'a row with more that is wrong',
      'csv',
      `${HEAD}\n0,Tom,1,gone\n`,
      `line 3: ${WRONG}; status must be one of available, pending, sold`,
    ],
    ['an id with a fraction', 'ndjson', `{"id":1.5,${TOM}}`, `line 1: ${WRONG}`],
    ['an id in quotes', 'ndjson', `{"id":"7",${TOM}}`, `line 1: ${WRONG}`],
    ['the greatest int64', 'json', `[{"id":9223372036854775807,${TOM}}]`, `pet 1: ${WRONG}`],
    [
      'an id that an earlier pet has',
      'json',
      `[${[7, 8, 7].map((id) => `{"id":${id},${TOM}}`)}]`,
      'the id 7 is given twice',
    ],
  ] as const) {
    test(`pets import --keep-ids › ${what} › is refused`, async () => {
      const { status, lines } = await importText(text, { format, flags: KEEP });
      assert.equal(status, 1);
      assert.deepEqual(lines, [`petstore: ${place}; nothing was imported`]);
    });
  }

  test('pets import › into a new file › leaves that file, or nothing when it fails', async () => {
    const failed = await importText(`${HEAD}${'1,Rex,1,\n'.repeat(2_000)},,`);
    assert.equal(failed.status, 1);
    const { status, store } = await importText('name,categoryId\nRex,1\n');
    assert.equal(status, 0);
    const names = await readdir(cwd);
    assert.deepEqual(
      names.filter((name) => name.startsWith(store) || name.startsWith(failed.store)),
      [store],
    );
    using database = new DatabaseSync(join(cwd, store), { readOnly: true });
    // In WAL mode, the store could not be read from a folder that cannot be written.
    const mode = database.prepare('pragma journal_mode').get();
    assert.deepEqual({ ...mode }, { journal_mode: 'delete' });
  });

  test('pets import › a signal on the way into a new file › ends it, and leaves no file', async () => {
    await using folder = await createFolder();
    const file = join(folder.path, 'pets.csv');
    execFileSync('mkfifo', [file]);
    // Opened to read too, because nobody reads the pipe yet.
    await using pipe = await open(file, 'r+');
    await pipe.write('name,categoryId\nRex,1\n');
    await using program = startProgram(['pets', 'import', file], { cwd: folder.path });
    await until(async () => (await readdir(folder.path)).some((name) => name.endsWith('-wal')));
    program.process.kill('SIGINT');
    assert.equal((await within(program.finished)).signal, 'SIGINT');
    assert.deepEqual(await readdir(folder.path), ['pets.csv']);
  });
});
