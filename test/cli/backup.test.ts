/** `petstore backup` of the real program, while a service writes to the store. */

import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
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
    const exported = await runProgram(['pets', 'export', '--database', 'sqlite:copy.db'], { cwd });
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

  test('backup › to a file that is there › exits with 1 and leaves it', async () => {
    await writeFile(join(cwd, 'there.db'), 'Rex');
    const { status, stdout, stderr } = await runProgram(['backup', 'there.db'], { cwd });
    assert.deepEqual(
      { status, stdout, stderr },
      { status: 1, stdout: '', stderr: 'petstore: there.db exists already\n' },
    );
  });

  test('backup › to a folder that is not there › exits with 1 and one line', async () => {
    const files = await readdir(cwd);
    const { status, stderr } = await runProgram(['backup', 'no/copy.db'], { cwd });
    assert.equal(status, 1);
    assert.match(stderr, /^petstore: no\/copy\.db cannot be written: its folder must [^\n]*\n$/);
    assert.deepEqual(await readdir(cwd), files);
  });
});
