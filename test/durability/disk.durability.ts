/** A full disk under SQLite: creates are refused, reads work, and all works again once there is room. Disks that fail, or lack hard links. */

import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertRefused, runProgram, startProgram, startService } from '../support/program.ts';
import { assertError, send } from '../support/request.ts';
import { failDisk, fill, mountDisk, mountExfat, mountFailingDisk } from '../support/small-disk.ts';
import { createDatabase } from '../support/sqlite.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { createClient } from './client.ts';
import { createHistory, findViolations } from './history.ts';
import { assertSound, readRows } from './subject.ts';

const BEFORE = 200;
const REFUSALS = 50;
/** More pets than the disk has room for. */
const IMPORTED = 500_000;
/** By then the free space within the write-ahead log is used up. */
const TRIES_MAX = 20_000;
const RETURN_MS_MAX = 5_000;

function assertOneLine(text: string): void {
  assert.match(text, /^petstore: [^\n]*disk is full[^\n]*\n$/);
}

/** Every other refused create is sent again, with its key, once there is room. */
const isRepeatable = (n: number) => n % 2 === 0;

test('a full disk › under a service on SQLite › refuses creates alone, until there is room', async () => {
  const cwd = createProcessFolder();
  const disk = join(cwd, 'disk');
  const file = join(disk, 'petstore.db');
  const database = ['--database', `sqlite:${file}`];
  const history = createHistory();
  using _mounted = mountDisk(disk);
  await using service = await startService(['--log-level', 'silent', ...database], { cwd });
  const { port, key } = service;
  const authorization = `Bearer ${key}`;
  const { stdout } = await runProgram(['keys', 'create', '--name', 'unused', ...database], {
    cwd,
  });
  const client = createClient({ key, ports: [port] }, history);
  let count = 0;

  /** Whether the service accepted one more create. */
  async function createOne(): Promise<boolean> {
    count += 1;
    return client.create(client.plan(`pet ${count}`), count % 5 === 0);
  }

  while (count < BEFORE) assert.ok(await createOne());
  const makeRoom = fill(disk);
  while (await createOne()) assert.ok(count < TRIES_MAX, 'the disk does not fill');

  const refused = Array.from({ length: REFUSALS }, (_, n) => client.plan(`refused ${n}`));
  const asked = refused.map(async ({ name }, n) => {
    const repeated = { 'idempotency-key': name.replaceAll(' ', '-') };
    const headers = { authorization, ...(isRepeatable(n) && repeated) };
    const body = JSON.stringify({ name, categoryId: 1 });
    const answer = await send(port, { method: 'POST', path: '/v1/pets', headers, body });
    assertError(answer, 'unavailable', /./);
    await client.list(client.toFirst(100));
    await client.get(1 + n);
  });
  await Promise.all(asked);
  await client.walk(client.toFirst(100));
  // The first use of a key is a write too.
  const headers = { authorization: `Bearer ${stdout.trim()}` };
  const unused = await send(port, { path: '/v1/pets', headers });
  assert.equal(unused.status, 200, unused.body);
  const command = await runProgram(['keys', 'create', '--name', 'none', ...database], { cwd });
  assert.equal(command.status, 1);
  assertOneLine(command.stderr);
  assert.equal(service.process.exitCode ?? service.process.signalCode, null);

  makeRoom();
  await until(createOne, RETURN_MS_MAX);
  const repeated = refused.filter((_, n) => isRepeatable(n));
  for (const create of [...repeated, ...repeated]) {
    assert.ok(await client.create(create, true), create.name);
  }
  await client.walk(client.toFirst(100));
  const from = performance.now();
  const pets = readRows(file);
  const page = { from, to: performance.now(), after: 0, limit: Infinity, pets };
  history.pages.push({ ...page, hasNext: false });
  assertSound(file);
  assert.deepEqual(findViolations(history), []);
});

test('a full disk › under an import into a new file › leaves nothing there, and names the file', async () => {
  const cwd = createProcessFolder();
  const disk = join(cwd, 'disk');
  using _mounted = mountDisk(disk);
  const row = '{"name":"Rex","categoryId":1}\n';
  writeFileSync(join(cwd, 'pets.ndjson'), row.repeat(IMPORTED));
  const args = ['pets', 'import', 'pets.ndjson', '--database', 'sqlite:disk/new.db'];
  const { status, stderr } = await runProgram(args, { cwd });
  assert.equal(status, 1);
  assertOneLine(stderr);
  assert.match(stderr, /^petstore: the database disk\/new\.db cannot grow: /);
  assert.deepEqual(readdirSync(disk), []);
});

for (const kilobytes of [4, 24, 48]) {
  test(`a full disk › of ${kilobytes} KB, under a start with a new file › leaves nothing there`, async () => {
    const cwd = createProcessFolder();
    const disk = join(cwd, 'disk');
    using _mounted = mountDisk(disk, kilobytes * 1024);
    const { status, stderr } = await runProgram(
      ['serve', '--port', '0', '--database', 'sqlite:disk/new.db'],
      { cwd },
    );
    assert.equal(status, 1);
    assertOneLine(stderr);
    assert.deepEqual(readdirSync(disk), []);
  });
}

for (const [room, status, told, left] of [
  [4_096, 1, /^petstore: [^\n]*disk is full; nothing was copied\n$/, []],
  // Less than an -shm takes.
  [16_384, 0, /^The store is copied/, ['backup.db']],
] as const) {
  test(`a full disk › with room for a backup and ${room} bytes › ends with ${status}, and leaves no part`, async () => {
    const file = await createDatabase(1);
    const cwd = createProcessFolder();
    const disk = join(cwd, 'disk');
    using _mounted = mountDisk(disk, statSync(file).size + room);
    const args = ['backup', 'disk/backup.db', '--database', `sqlite:${file}`];
    const finished = await runProgram(args, { cwd });
    assert.equal(finished.status, status, finished.stderr);
    assert.match(finished.stderr, told);
    assert.deepEqual(readdirSync(disk), left);
  });
}

test('a full disk › under the log of a service › each whole line is JSON, and the others are counted', async () => {
  const cwd = createProcessFolder();
  const disk = join(cwd, 'disk');
  using _mounted = mountDisk(disk);
  const log = join(disk, 'log');
  const within = ['sh', '-c', 'exec "$0" "$@" 2>disk/log'];
  await using _service = startProgram(['serve', '--port', '0'], { cwd, within });
  const read = () => (existsSync(log) ? readFileSync(log, 'utf8') : '');
  const findUrl = () => /listens on (http:[^"]+)"/.exec(read())?.[1];
  await until(() => findUrl() !== undefined);
  const ask = async (count: number) => {
    for (let each = 0; each < count; each += 1) await (await fetch(`${findUrl()}/livez`)).text();
    // Longer than lines are gathered.
    await sleep(500);
  };
  await ask(100);
  const makeRoom = fill(disk);
  await ask(300);
  makeRoom();
  await ask(300);
  const lines = read().trimEnd().split('\n');
  // The line that the full disk has cut is the only one that is no JSON.
  const isWhole = (line: string) => line.endsWith('}');
  assert.ok(lines.filter((line) => !isWhole(line)).length <= 1, read());
  const whole = lines.filter(isWhole).map((line) => JSON.parse(line));
  const dropped = whole.reduce((sum, line) => sum + (line.dropped ?? 0), 0);
  assert.ok(dropped > 100, `${dropped} are counted`);
  assert.equal(whole.filter(({ route }) => route === '/livez').length + dropped, 700);
});

test('a disk that cannot be read › under a store › is not taken for the disk of its backup', async () => {
  // The start would read a smaller store whole.
  const file = await createDatabase(1_000_000, 250);
  const inject = ['-P', file, '-e', 'inject=pread64:error=EIO:when=100+'];
  const within = ['strace', '-f', '-o', '/dev/null', ...inject];
  const cwd = createProcessFolder();
  const args = ['backup', 'backup.db', '--database', `sqlite:${file}`];
  const line = `the database ${file} cannot be read or written: the disk reports an error`;
  assertRefused(await runProgram(args, { cwd, within }), 1, `${line}; nothing was copied`);
  assert.deepEqual(readdirSync(cwd), []);
});

test('a disk that does not sync › under a commit › is not known: after a crash the commit may count', async () => {
  const file = await createDatabase(1);
  // It keeps the log.
  using other = new DatabaseSync(file);
  other.exec('select 1 from pets');
  const within = ['strace', '-f', '-o', '/dev/null', '-e', 'inject=fsync:error=EIO:when=3+'];
  const args = [
    'pets',
    'add',
    '--name',
    'Mia',
    '--category-id',
    '1',
    '--database',
    `sqlite:${file}`,
  ];
  const cwd = createProcessFolder();
  const refused = await runProgram(args, { cwd, within });
  const told =
    'it is not known whether anything was done: when the database confirms writes again, in the same store, pets export has a new pet of this name if so';
  assertRefused(
    refused,
    1,
    `the database ${file} cannot be read or written: the disk reports an error; ${told}`,
  );
  for (const end of ['', '-wal']) copyFileSync(file + end, join(cwd, `petstore.db${end}`));
  assert.match((await runProgram(['pets', 'export'], { cwd })).stdout, /Mia/);
});

test('a disk that became read-only › under a service on SQLite › has all pets for a backup onto another disk', async () => {
  const cwd = createProcessFolder();
  const disk = join(cwd, 'disk');
  using _mounted = mountFailingDisk(disk);
  const database = ['--database', `sqlite:${join(disk, 'petstore.db')}`];
  await using service = await startService(database, { cwd });
  const client = createClient({ key: service.key, ports: [service.port] }, createHistory());
  let count = 0;
  const create = () => client.create(client.plan(`pet ${count}`), false);
  while (count < BEFORE && (await create())) count += 1;
  failDisk(disk);
  while (await create()) count += 1;
  await until(() => {
    try {
      writeFileSync(join(disk, 'probe'), '');
      return false;
    } catch (error) {
      return Object(error).code === 'EROFS';
    }
  });
  await create();
  const told = 'cannot be read or written: the disk reports an error';
  await until(() => service.output.stderr.includes(told));
  const backUp = async (name: string) => {
    const { status, stderr } = await runProgram(['backup', name, ...database], { cwd });
    assert.equal(status, 0, stderr);
    assert.ok(readRows(join(cwd, name)).length >= count);
  };
  await backUp('beside.db');
  const folder = join(disk, 'new');
  const refused = await runProgram(['backup', '--keep', '2', folder, ...database], { cwd });
  const why = 'its parent folder is missing, or its disk is read-only';
  assertRefused(refused, 1, `${folder} cannot be made: ${why}; nothing was copied`);
  service.process.kill('SIGTERM');
  await service.finished;
  await backUp('after.db');
});

const PET = '{"id":1,"name":"Rex","categoryId":3}\n';

test('a disk of exFAT, without hard links › backups, a copy, an import and an export › are whole, and replace nothing', async () => {
  const cwd = createProcessFolder();
  const disk = join(cwd, 'disk');
  using _mounted = mountExfat(disk);
  const run = (line: string) => runProgram(line.split(' '), { cwd });
  const doOne = async (line: string) => assert.equal((await run(line)).status, 0, line);
  await doOne('pets add --name Rex --category-id 3');
  await doOne('pets export disk/pets.ndjson');
  await doOne('pets export disk/pets.ndjson');
  assert.throws(() => linkSync(join(disk, 'pets.ndjson'), join(disk, 'link')), { code: 'EPERM' });
  const lines = {
    'backup.db': 'backup disk/backup.db',
    'copy.db': 'copy --from sqlite:petstore.db --to sqlite:disk/copy.db',
    'imported.db': 'pets import disk/pets.ndjson --database sqlite:disk/imported.db',
  };
  for (const [name, line] of Object.entries(lines)) {
    await doOne(line);
    const { stdout } = await run(`pets export --database sqlite:disk/${name}`);
    assert.equal(stdout, PET, line);
  }
  await doOne('backup --keep 1 disk/kept');
  const twice = await Promise.all([1, 2].map(() => run('backup disk/twice.db')));
  assert.deepEqual(twice.map(({ status }) => status).sort(), [0, 1]);
  const names = readdirSync(disk, { recursive: true }).map(String).sort();
  assert.match(
    names.join(' '),
    /^backup.db copy.db imported.db kept kept\/\S+Z.db pets.ndjson twice.db$/,
  );
  const before = readFileSync(join(disk, 'backup.db'));
  const line = 'disk/backup.db exists already; nothing was copied';
  assertRefused(await run(lines['backup.db']), 1, line);
  assert.deepEqual(readFileSync(join(disk, 'backup.db')), before);
});
