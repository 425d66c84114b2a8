/** `petstore backup` of the real program, while a service writes to the store. */

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { backUp } from '../../src/cli/commands/back-up-store.ts';
import { openStore } from '../../src/storage/open.ts';
import { runCommand } from '../support/command.ts';
import { disposable } from '../support/disposable.ts';
import { runProgram, startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const CLIENTS = 4;
const CREATED_MIN = 200;

describe('backup', () => {
  const cwd = createProcessFolder();

  test('backup › while the service runs and adds › is a store of one moment by itself', async () => {
    await using service = await startService(['--log-level', 'silent'], { cwd });
    let isStopping = false;
    const created: number[] = [];
    const headers = {
      authorization: `Bearer ${service.key}`,
      'content-type': 'application/json',
    };
    const body = '{"name":"Rex","categoryId":9223372036854775807,"status":"sold"}';
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (!isStopping) {
        const answer = await fetch(`${service.url}/v1/pets`, { method: 'POST', headers, body });
        assert.equal(answer.status, 201);
        created.push(Number(/^\{"id":(\d+),/.exec(await answer.text())?.[1]));
      }
    });
    const working = Promise.all(clients);
    while (created.length < CREATED_MIN) await Promise.race([working, setTimeout(5)]);
    const before = new Set(created);
    const { status, stdout, stderr } = await runProgram(['backup', 'copy.db'], { cwd }).finally(
      () => {
        isStopping = true;
      },
    );
    await working;
    assert.deepEqual(
      { status, stdout, stderr },
      {
        status: 0,
        stdout: '',
        stderr: `The store is copied to copy.db.\nStore: sqlite:${cwd}/petstore.db\n`,
      },
    );
    assert.ok(created.length > before.size);

    {
      using copy = new DatabaseSync(join(cwd, 'copy.db'), { readOnly: true });
      assert.deepEqual(
        { ...copy.prepare('pragma integrity_check').get() },
        { integrity_check: 'ok' },
      );
    }
    const exported = await runCommand(['pets', 'export', '--database', 'sqlite:copy.db'], { cwd });
    const rows = exported.stdout.trimEnd().split('\n');
    const ids = rows.map((row) => Number(/^\{"id":(\d+),/.exec(row)?.[1]));
    for (const id of before) assert.ok(ids.includes(id), `pet ${id}`);
    assert.deepEqual(
      ids,
      Array.from(ids, (_, index) => index + 1),
    );
    assert.equal(rows[0], `{"id":1,${body.slice(1)}`);
    await using second = await startService(['--database', 'sqlite:copy.db'], { cwd });
    assert.equal(second.key, '');
    assert.equal((await fetch(`${second.url}/v1/pets`, { headers })).status, 200);
  });

  test('backup --keep › folders that are not there › makes them, for their owner only', async () => {
    const runIn = async (command: string[]) => {
      const { status, stderr } = await runCommand(command, { cwd });
      assert.equal(status, 0, stderr);
    };
    await runIn(['pets', 'add', '--name', 'Rex', '--category-id', '3']);
    await runIn(['backup', '--keep', '1', 'new/backups']);
    assert.equal((await readdir(join(cwd, 'new/backups'))).length, 1);
    for (const folder of ['new', 'new/backups']) {
      assert.equal((await stat(join(cwd, folder))).mode & 0o777, 0o700);
    }
  });

  test('backup › below a file › exits with 1 and one line', async () => {
    await writeFile(join(cwd, 'file'), 'Rex');
    const { status, stderr } = await runCommand(['backup', '--keep', '1', 'file'], { cwd });
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^petstore: file\/petstore-[^\n]*Z\.db cannot be written: its folder [^\n]*\n$/,
    );
  });
});

describe('backup --keep', () => {
  const UUID = '0b6c1f3e-9a57-4d2c-8e10-5f4b7a9c2d6e';
  const OTHERS = [
    'petstore.db',
    'petstore-2026-01-01.db',
    'petstore-2026-01-01T000000Z.db.bak',
    'my-petstore-2026-01-01T000000Z.db',
    'petstore-2026-01-01T000000Z.db.b1f6.partial',
    `petstore.db.${UUID}.partial`,
    `petstore-2026-01-01T000000Z.db.${UUID}.partial.bak`,
    `my-petstore-2026-01-01T000000Z.db.${UUID}.partial`,
  ];
  const at = (day: number) => `petstore-2026-11-${day}T043000Z.db`;
  const partialAt = (day: number, time = '043000') =>
    `petstore-2026-11-${day}T${time}Z.db.${UUID}.partial`;

  /** A new store, a folder with the files, and what is told on a standard error. */
  async function prepare(files: readonly string[]) {
    const folder = createProcessFolder();
    const store = disposable(await openStore(`sqlite:${folder}/store.db`, { create: true }));
    const target = join(folder, 'backups');
    await mkdir(target);
    for (const file of files) await writeFile(join(target, file), 'Rex');
    let told = '';
    const stderr = {
      isTTY: false,
      write: (text: string) => {
        told += text;
      },
    };
    return {
      store,
      target,
      stderr,
      list: async () => (await readdir(target)).sort(),
      told: () => told.replaceAll(`${target}/`, ''),
      backUp: (keep: number, day: number) =>
        backUp(store, target, keep, stderr, () => new Date(Date.UTC(2026, 10, day, 4, 30, 0, 999))),
      [Symbol.asyncDispose]: () => store.close(),
    };
  }

  test('backup --keep › more than are kept › removes the oldest of its own names alone', async () => {
    await using prepared = await prepare([at(10), at(12), at(11), ...OTHERS]);
    await prepared.backUp(2, 13);
    assert.deepEqual(await prepared.list(), [at(12), at(13), ...OTHERS].sort());
    assert.equal(
      prepared.told(),
      `The store is copied to ${at(13)}.\nRemoved ${at(10)}.\nRemoved ${at(11)}.\n`,
    );
  });

  test('backup --keep › of one, by a clock that was set back › keeps the new one', async () => {
    await using prepared = await prepare([at(20), at(21)]);
    await prepared.backUp(1, 13);
    assert.deepEqual(await prepared.list(), [at(13)]);
  });

  test('backup --keep › a backup of this second is there › fails and removes none', async () => {
    await using prepared = await prepare([at(10), at(13)]);
    await assert.rejects(prepared.backUp(1, 13), /exists already$/);
    assert.deepEqual(await prepared.list(), [at(10), at(13)]);
  });

  test('backup --keep › parts that backups left › removes those of more than a day ago', async () => {
    const old = [partialAt(10), `${partialAt(11)}-wal`, `${partialAt(11)}-shm`];
    const older = [...old, `${partialAt(11)}-journal`, partialAt(12, '042959')].sort();
    const young = [partialAt(12), partialAt(12, '043001'), partialAt(13), partialAt(14)];
    await using prepared = await prepare([at(11), ...older, ...young, ...OTHERS]);
    await prepared.backUp(2, 13);
    assert.deepEqual(await prepared.list(), [at(11), at(13), ...young, ...OTHERS].sort());
    const removed = older.map((name) => `Removed ${name}.\n`).join('');
    assert.equal(prepared.told(), `The store is copied to ${at(13)}.\n${removed}`);
  });

  test('backup --keep › a part under the name that a backup under way has › removes it', async () => {
    await using prepared = await prepare([]);
    const { store, target } = prepared;
    let part = '';
    await store.backup(join(target, at(10)), () => {
      part = readdirSync(target).join();
    });
    await writeFile(join(target, part), 'Rex');
    await prepared.backUp(2, 13);
    assert.deepEqual(await prepared.list(), [at(10), at(13)]);
    assert.ok(prepared.told().endsWith(`\nRemoved ${part}.\n`));
  });

  test('backup --keep › that fails beside an old part › removes none', async () => {
    await using prepared = await prepare([at(13), partialAt(10)]);
    await assert.rejects(prepared.backUp(1, 13), /exists already$/);
    assert.deepEqual(await prepared.list(), [partialAt(10), at(13)]);
  });

  test('backup --keep › on a terminal › shows a bar until it is done', async () => {
    await using prepared = await prepare([]);
    Object.assign(prepared.stderr, { isTTY: true, columns: 80 });
    await prepared.backUp(1, 13);
    const [bar, line] = prepared.told().split('\r\x1b[K').slice(-2);
    assert.equal(bar, 'checking');
    assert.equal(line, `The store is copied to ${at(13)}.\n`);
  });
});
