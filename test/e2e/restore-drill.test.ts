/** The restore drill of docs/operations.md, to the letter: a backup while pets are added, and a restore of the newest one. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { MAIN, type RunningService, startService } from '../support/program.ts';
import { send } from '../support/request.ts';
import { createFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const OPERATIONS = new URL('../../docs/operations.md', import.meta.url);
const CREATED_MIN = 100;
const skip = process.platform === 'win32' && 'its commands are for a POSIX shell';

/** The three blocks of commands: the backup, the try, the restore. */
async function readDrill(): Promise<string[]> {
  const [, drill = ''] = (await readFile(OPERATIONS, 'utf8')).split('### A restore drill\n');
  const [section = ''] = drill.split('\n## ');
  return [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
}

async function post({ port, key }: RunningService): Promise<number> {
  const { status, body } = await send(port, {
    ...{ method: 'POST', path: '/v1/pets', body: '{"name":"Rex","categoryId":1}' },
    headers: { authorization: `Bearer ${key}`, connection: 'close' },
  });
  assert.equal(status, 201, body);
  return JSON.parse(body).id;
}

test('restore drill › its commands in their order › bring back the newest backup', {
  skip,
}, async () => {
  await using folder = await createFolder();
  const cwd = folder.path;
  // A command `petstore`, as the package has it.
  const bin = join(cwd, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'petstore'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  await chmod(join(bin, 'petstore'), 0o755);
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  const run = (block: string) => promisify(execFile)('sh', ['-euc', block], { cwd, env });
  const [backup = '', attempt = '', restore = '', ...more] = await readDrill();
  assert.deepEqual(more, []);

  let key: string;
  let created = 0;
  let before: number;
  {
    await using service = await startService(['--log-level', 'silent'], { cwd });
    key = service.key;
    let isStopping = false;
    const creates = (async () => {
      while (!isStopping) created = await post(service);
    })();
    await until(() => created >= CREATED_MIN);
    before = created;
    await run(backup);
    await writeFile(join(cwd, 'backups/petstore-2026-01-01T000000Z.db'), 'an older one');
    const after = created;
    await until(() => created > after);
    isStopping = true;
    await creates;
    service.process.kill('SIGTERM');
    await service.finished;
  }

  const tried = await run(attempt);
  const [, count = '', keys] = /^(\d+)\n([\s\S]*)$/.exec(tried.stdout.trimStart()) ?? [];
  const pets = Number(count);
  assert.ok(pets >= before && pets < created, `${before} <= ${pets} < ${created}`);
  assert.match(keys ?? '', /first/);

  await run(restore);
  assert.deepEqual((await readdir(join(cwd, 'lost'))).includes('petstore.db'), true);
  await using restored = await startService(['--log-level', 'silent'], { cwd });
  assert.equal(restored.key, '');
  assert.equal(await post({ ...restored, key }), pets + 1);
});
