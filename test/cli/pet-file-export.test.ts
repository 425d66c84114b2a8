/** Pet files that are written: each is read back as it was, to the letter, and a failure leaves the old file. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { open, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { writePets } from '../../src/cli/pet-file.ts';
import { INT64_MAX, INT64_MIN } from '../../src/int64.ts';
import type { Pet } from '../../src/pet.ts';
import { SqliteConnection } from '../../src/storage/sqlite/connection.ts';
import { runCommand } from '../support/command.ts';
import { readGood, refuses } from '../support/pet-file.ts';
import { assertRefused, runProgram } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { nextPoll } from '../support/until.ts';

const folder = createProcessFolder();

async function* iterate<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

/** More than are written at once. */
const MANY: readonly Pet[] = Array.from({ length: 1_000 }, (_, index) => ({
  id: BigInt(index),
  name: `${'🐈"é\n\r\u2028\\,'.repeat(index % 20)}x`,
  categoryId: 2n ** 62n + BigInt(index),
}));

for (const ending of ['ndjson', 'json', 'csv'] as const) {
  test(`pets export › many pets to ${ending} › read back equal`, async (t) => {
    // Not through a file: it would wait for the disk.
    const between = new PassThrough();
    for (const name of ['stdout', 'stdin'] as const) t.mock.getter(process, name, () => between);
    const read = Array.fromAsync(readGood('-', ending));
    await writePets({ format: ending }, iterate(MANY));
    between.end();
    const expected = MANY.map(({ id: _, ...newPet }) => newPet);
    assert.ok(isDeepStrictEqual(await read, expected), 'the pets differ');
  });
}

const pets: Pet[] = [
  { id: 1n, name: 'Rex "the\n\u2028dog", 1st', categoryId: INT64_MAX },
  { id: INT64_MAX, name: ' \r', categoryId: INT64_MIN, status: 'sold' },
];
const rows = [
  '{"id":1,"name":"Rex \\"the\\n\u2028dog\\", 1st","categoryId":9223372036854775807}',
  '{"id":9223372036854775807,"name":" \\r","categoryId":-9223372036854775808,"status":"sold"}',
];
const texts = {
  ndjson: `${rows.join('\n')}\n`,
  json: `[\n${rows.join(',\n')}\n]\n`,
  csv: 'id,name,categoryId,status\n1,"Rex ""the\n\u2028dog"", 1st",9223372036854775807,\n9223372036854775807," \r",-9223372036854775808,sold\n',
};
for (const [ending, text] of Object.entries(texts)) {
  test(`pets export › pets to ${ending} › are written to the letter`, async () => {
    const file = join(folder, `letter.${ending}`);
    await writePets({ file }, iterate(pets));
    assert.equal(await readFile(file, 'utf8'), text);
  });
}

test('pets export › that fails › leaves the old file and nothing else', async () => {
  const inner = createProcessFolder();
  const file = join(inner, 'pets.csv');
  await writeFile(file, 'old');
  async function* failing(): AsyncGenerator<Pet> {
    for (let id = 0n; id < 10_000n; id += 1n) yield { id, name: 'Rex', categoryId: 1n };
    throw new Error('the database is gone');
  }
  await assert.rejects(writePets({ file }, failing()), /the database is gone/);
  assert.deepEqual(await readdir(inner), ['pets.csv']);
  assert.equal(await readFile(file, 'utf8'), 'old');
  await writePets({ file }, iterate(pets));
  assert.equal(await readFile(file, 'utf8'), texts.csv);
});

test('pets export › to a place where no file can be › says so in one line', async () => {
  await writeFile(join(folder, 'file'), 'Rex');
  for (const [inner, why] of [
    ['no', /pets\.csv cannot be written: ENOENT: no such file or directory, open '.*pets\.csv'$/],
    [
      'file',
      /pets\.csv cannot be written \(ENOTDIR\): check its path, and the rights of this user on its file and folders$/,
    ],
  ] as const) {
    const file = join(folder, inner, 'pets.csv');
    await refuses(() => writePets({ file }, iterate(pets)), why);
  }
});

/** The name, kind and target of each that is no file. */
const LIST_PLACES = "find . ! -type f -printf '%P %y %l\\n' | sort; find . -name '*.partial'";
const REX = '{"id":1,"name":"Rex","categoryId":1}\n';
/** The pipe is open for reading before the command and after it: neither waits for the other. */
const READ_PIPE = 'exec 3<> place; "$@"; timeout 9 head -n 1 <&3 > got';
/** Each has what is at `place` before, the command in a shell, and what `got` has then. */
for (const [what, prepare, command, text = REX, file = 'place'] of [
  ['a link to a pipe', 'mkfifo pipe; ln -s pipe place', READ_PIPE],
  ['standard output', 'echo old > got', '"$@" >> got', `old\n${REX}`, '/proc/self/fd/1'],
  [
    'a link to nothing, behind a linked folder',
    'mkdir -p a/b; ln -s a/b c; ln -s ../../got c/link; ln -s c/link place',
    '"$@"',
  ],
] as const) {
  test(`pets export › to ${what} › writes there, and the place stays`, async () => {
    const cwd = createProcessFolder();
    const shell = (line: string) => execFileSync('sh', ['-c', line], { cwd, encoding: 'utf8' });
    await runCommand(['pets', 'add', '--name', 'Rex', '--category-id', '1'], { cwd });
    shell(prepare);
    const places = shell(LIST_PLACES);
    const args = ['pets', 'export', file, '--format', 'ndjson'];
    const { stderr } = await runProgram(args, { cwd, within: ['sh', '-c', command, 'sh'] });
    assert.equal(await readFile(join(cwd, 'got'), 'utf8'), text, stderr);
    assert.equal(shell(LIST_PLACES), places);
  });
}

for (const file of ['store.db', 'link', 'real.db', 'real.db-wal']) {
  test(`pets export › to ${file}, a file of the store itself › is refused, and leaves the store`, async () => {
    const cwd = createProcessFolder();
    const flags = ['--database', 'sqlite:store.db'];
    const database = new SqliteConnection(join(cwd, 'real.db'), 0);
    for (const name of ['store.db', 'link']) await symlink('real.db', join(cwd, name));
    await runCommand(['pets', 'add', '--name', 'Rex', '--category-id', '1', ...flags], { cwd });
    // It keeps the -wal.
    database.run('select 1 from pets');
    const args = ['pets', 'export', file, '--format', 'csv', ...flags];
    const line = `${file} is a file of the store itself: name another file; nothing was exported`;
    assertRefused(await runCommand(args, { cwd }), 1, line);
    database.close();
    assert.equal((await runCommand(['pets', 'export', ...flags], { cwd })).stdout, REX);
  });
}

test('pets export › to a socket, an open file, or a device that is full › fails, and the place stays', async () => {
  const inner = createProcessFolder();
  const [full, socket, file] = ['full', 'socket', 'open'].map((name) => join(inner, name));
  const server = createServer().listen(socket);
  await once(server, 'listening');
  await symlink('/dev/full', full ?? '');
  await using opened = await open(file ?? '', 'a');
  await opened.write('old');
  const write = (to = '') => writePets({ file: to, format: 'csv' }, iterate(MANY));
  for (const place of [socket, `/dev/fd/${opened.fd}`, `/proc/self/fd/${opened.fd}`]) {
    const message = `${place} is a socket, a disk or an open file: name a file, or -`;
    await refuses(() => write(place), message);
  }
  await assert.rejects(write(full), { code: 'ENOSPC' });
  assert.deepEqual(await readdir(inner), ['full', 'open', 'socket']);
  assert.equal(await readFile(file ?? '', 'utf8'), 'old');
  server.close();
});

test('pets export › to /dev/stderr, a file that the shell has open › is refused, and the file goes on', async () => {
  const cwd = createProcessFolder();
  await runCommand(['pets', 'add', '--name', 'Rex', '--category-id', '1'], { cwd });
  const within = ['sh', '-c', 'exec 2>> got; echo old >&2; "$@"', 'sh'];
  const args = ['pets', 'export', '/dev/stderr', '--format', 'ndjson'];
  const { status } = await runProgram(args, { cwd, within });
  const told = '/dev/stderr is a socket, a disk or an open file: name a file, or -';
  assert.equal(await readFile(join(cwd, 'got'), 'utf8'), `old\npetstore: ${told}\n`);
  assert.equal(status, 1);
});

/** As many pets as are asked for, and how many that were. */
function endless(): { pets: AsyncGenerator<Pet>; taken: () => number } {
  let taken = 0;
  async function* generate(): AsyncGenerator<Pet> {
    for (; ; taken += 1) yield { id: BigInt(taken), name: 'Rex', categoryId: 1n };
  }
  return { pets: generate(), taken: () => taken };
}

test('pets export › to a reader that has gone › ends quietly', async (t) => {
  const { pets: source } = endless();
  let writes = 0;
  const reader = new Writable({
    write(_chunk, _encoding, done) {
      writes += 1;
      done(writes < 3 ? null : Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    },
  });
  // As in the program.
  reader.on('error', () => undefined);
  t.mock.getter(process, 'stdout', () => reader);
  await writePets({}, source);
  assert.equal(writes, 3);
});

test('pets export › to one stream again and again › leaves no listener on it', async (t) => {
  const stdout = new PassThrough().resume();
  t.mock.getter(process, 'stdout', () => stdout);
  const count = () => stdout.eventNames().map((name) => stdout.listenerCount(name));
  const before = count();
  for (let times = 0; times < 12; times += 1) await writePets({}, iterate(pets));
  assert.deepEqual(count(), before);
});

test('pets export › to a slow reader › takes no more pets than are read', async (t) => {
  const { pets: source, taken } = endless();
  const reader = new Writable({ write: () => {} });
  t.mock.getter(process, 'stdout', () => reader);
  void writePets({}, source);
  const pass = async () => {
    for (let turn = 0; turn < 100; turn += 1) await nextPoll();
    return taken();
  };
  const before = await pass();
  assert.equal(await pass(), before);
  assert.ok(before < 10_000);
});
