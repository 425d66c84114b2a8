/** `petstore pets import --update`: what it shows and refuses, and that what it prints undoes it, on every engine. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NewPet, Pet } from '../../src/pet.ts';
import type { Store } from '../../src/store.ts';
import { listAll, REX, repeat } from '../storage/contract/data.ts';
import { testLasting, testOnFile } from '../storage/contract/engines.ts';
import { runCommand } from '../support/command.ts';
import { runProgram, startProgram } from '../support/program.ts';
import { until, within } from '../support/until.ts';

/** Adds the pets, and gives what imports a text into their store with `--update`. */
async function prepare(store: Store, place: { folder: string; address: string }, pets: NewPet[]) {
  await store.pets.merge(ReadableStream.from(pets));
  return async (name: string, text: string, ...flags: readonly string[]) => {
    await writeFile(join(place.folder, name), text);
    const args = ['pets', 'import', name, '--update', '--database', place.address, ...flags];
    const { status, stdout, stderr } = await runCommand(args, { cwd: place.folder });
    return { status, stdout, lines: stderr.split('\n').slice(0, status === 0 ? -2 : -1) };
  };
}

const HEAD = 'id,name,categoryId,status\n';
const REMEDY =
  'correct a file of "pets export"; an empty cell, or null in JSON, takes a value away; nothing was imported';
const needs = (name: string, loss = '') =>
  `petstore: --update needs the field "${name}"${loss}: ${REMEDY}`;
const MARKED =
  "petstore: every name begins with ': name the column 'name if a spreadsheet put it there, or else import NDJSON; nothing was imported";

testLasting(
  'pets import --update › beside a client that creates › shows what changes, and prints what undoes it',
  async (store, place) => {
    const toPet = (index: number): Pet => ({ ...REX, id: BigInt(index + 1), name: `Rex ${index}` });
    const old = Array.from({ length: 1_030 }, (_, index) => toPet(index));
    const importText = await prepare(store, place, old);
    // No pet had a status: without null, the undo would have no field of this name.
    const rows = old
      .slice(0, 1_025)
      .map(({ id, name }) => `${id},${name},${id < 3 ? 7 : 1},sold\n`);
    const file = ['id,name,categoryId,status\n', ...rows, '1026,Rex 1025,1,\n'].join('');
    const { pets: others } = await place.openOther();
    const created: Pet[] = [];
    let isCreating = true;
    const creating = (async () => {
      while (isCreating) created.push(await others.add({ ...REX, name: 'New' }));
    })();
    const planned = await importText('pets.csv', file, '--dry-run');
    const shown = planned.stdout.split('\n');
    assert.deepEqual(shown.slice(0, 3), [
      '     ID  NAME    CATEGORY ID  STATUS',
      'was  1   Rex 0   1            -',
      'is   1   Rex 0   7            sold',
    ]);
    assert.deepEqual([shown.length, shown[40]], [42, 'is   20  Rex 19  1            sold']);
    assert.deepEqual(planned.lines, [
      'and 1,005 more',
      'change categoryId of 2 pets, change status of 1,025 pets',
      'would be: 0 added, 1,025 corrected, 1 unchanged; nothing was changed',
    ]);
    const done = await importText('pets.csv', file, '--json');
    const line = ({ id, name }: Pet) =>
      `{"id":${id},"name":"${name}","categoryId":1,"status":null}\n`;
    assert.equal(done.stdout, old.slice(0, 1_025).map(line).join(''));
    assert.deepEqual(done.lines, [
      'change categoryId of 2 pets, change status of 1,025 pets',
      '0 added, 1,025 corrected, 1 unchanged',
    ]);
    assert.equal((await store.pets.find(2n))?.status, 'sold');
    const lacking = await importText('a.ndjson', done.stdout.replace(',"status":null', ''));
    assert.deepEqual(lacking.lines, [needs('status', ', or 1 pet would lose it')]);
    const undone = await importText('undo.ndjson', done.stdout);
    assert.deepEqual(undone.lines.slice(1), [
      'change categoryId of 2 pets, remove status of 1,025 pets',
      '0 added, 1,025 corrected, 0 unchanged',
    ]);
    isCreating = false;
    await creating;
    assert.ok(created.length > 0);
    assert.deepEqual(await listAll(store), [...old, ...created]);
  },
);

const SOLD = { ...REX, status: 'sold' } as const;
const OLD = 'Rex sold, Tom sold, Mia -';

for (const [name, text, refusal, pets] of [
  [
    'a.csv',
    'id,name,categoryId\n1,R,1\n2,T,1\n',
    needs('status', ', or 2 pets would lose it'),
    OLD,
  ],
  ['a.csv', 'id,name,categoryId\n3,M,1\n', needs('status'), OLD],
  ['a.csv', 'name,categoryId,status\nRex,1,\n', needs('id'), OLD],
  ['a.csv', `${HEAD}1,'Rex,1,\n2,'Tom,1,\n`, MARKED, OLD],
  ['a.csv', `${HEAD}1,'R,1,sold\n2,Tom,1,\n`, '', "'R sold, Tom -, Mia -"],
  ['a.csv', `${HEAD}1,Rex,1,\n2,Tom,1\n`, '', 'Rex -, Tom -, Mia -'],
  [
    'a.json',
    '[{"id":1,"name":"R","categoryId":1},{"id":3,"name":"M","categoryId":1}]',
    needs('status', ', or 1 pet would lose it'),
    OLD,
  ],
  [
    'a.json',
    '[{"id":1,"name":"R","categoryId":1},{"id":2,"name":"T","categoryId":1,"status":"pending"}]',
    needs('status', ', or 1 pet would lose it'),
    OLD,
  ],
  [
    'a.json',
    '[{"id":1,"name":"R","categoryId":1,"status":null},{"id":3,"name":"M","categoryId":1}]',
    '',
    'R -, Tom sold, M -',
  ],
] as const) {
  testOnFile(
    `pets import --update › ${name} of ${JSON.stringify(text)} › ${refusal ? 'is refused' : 'corrects'}`,
    async (store, place) => {
      const given = [SOLD, { ...SOLD, name: 'Tom' }, { ...REX, name: 'Mia' }];
      const importText = await prepare(store, place, given);
      const list = async () =>
        (await listAll(store)).map((pet) => `${pet.name} ${pet.status ?? '-'}`).join(', ');
      const planned = await importText(name, text, '--dry-run');
      assert.equal(await list(), OLD);
      const { status, lines } = await importText(name, text);
      assert.deepEqual([planned.status, status], refusal ? [1, 1] : [0, 0]);
      assert.equal(status === 0 ? '' : lines.join(), refusal);
      assert.equal(await list(), pets);
    },
  );
}

testOnFile(
  'pets import --update --json, pets remove --json › to a full disk, or a reader that goes away › do nothing, since their undo is lost',
  async (store, place) => {
    await store.pets.merge(repeat(3_000));
    const rows = Array.from({ length: 3_000 }, (_, index) => `${index + 1},Max,1,\n`);
    await writeFile(join(place.folder, 'a.csv'), HEAD + rows.join(''));
    for (const [shell, why] of [
      ['"$@" | head -1; exit $PIPESTATUS', 'write EPIPE'],
      // Its first write is cut short.
      ['ulimit -f 16; "$@" > undo', 'EFBIG: file too large, write'],
    ] as const) {
      for (const [command, outcome] of [
        ['pets import a.csv --update --json', '; nothing was imported'],
        ['pets remove 1-3000 --json', ''],
      ] as const) {
        const args = [...command.split(' '), '--database', place.address];
        const within = ['bash', '-c', shell, 'bash'];
        const { status, stderr } = await runProgram(args, { cwd: place.folder, within });
        const told = `standard output cannot be written, so nothing is changed: ${why}${outcome}`;
        assert.deepEqual([status, stderr], [1, `petstore: ${told}\n`]);
        assert.equal((await store.pets.find(1n))?.name, 'Rex 0');
      }
    }
  },
);

testOnFile(
  'pets remove --json › a pet that changes while the undo is read › removes none, since the undo is old',
  async (store, { folder, address }) => {
    // More than a pipe takes.
    await store.pets.merge(repeat(5_000, { ...REX, name: 'x'.repeat(240) }));
    const args = ['pets', 'remove', '1-5000', '--json', '--database', address];
    await using program = startProgram(args, { cwd: folder });
    const { stdout } = program.process;
    stdout?.once('data', () => stdout.pause());
    await until(() => program.output.stdout !== '');
    const [old] = await listAll(store);
    assert.ok(old);
    await store.pets.update(old, SOLD);
    stdout?.resume();
    const { status, stderr } = await within(program.finished);
    const told = 'the pets changed while they were printed: none is removed';
    assert.deepEqual([status, stderr], [1, `petstore: ${told}\n`]);
    assert.equal((await listAll(store)).length, 5_000);
  },
);
