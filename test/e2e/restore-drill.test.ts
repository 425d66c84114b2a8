/** The restore drill of docs/one-machine.md, to the letter: a backup while pets are added, and a restore of the newest one. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { MAIN, type RunningService, readFacts, startService } from '../support/program.ts';
import { send } from '../support/request.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const PAGE = new URL('../../docs/one-machine.md', import.meta.url);
const BACKUP_UNIT = new URL('../../deploy/petstore-backup.service', import.meta.url);
const CREATED_MIN = 100;
const skip = process.platform === 'win32' && 'its commands are for a POSIX shell';

/** The two blocks of commands: the backup and its drill, the restore. */
async function readDrill(): Promise<string[]> {
  const [, drill = ''] = (await readFile(PAGE, 'utf8')).split('## Back up, and try to restore\n');
  const [section = ''] = drill.split('\n## ');
  return [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
}

async function readBackupCommand(): Promise<string> {
  const [, command = ''] = /^ExecStart=(.*)$/m.exec(await readFile(BACKUP_UNIT, 'utf8')) ?? [];
  return command.replace('/usr/local/bin/', '');
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
  const folder = createProcessFolder();
  const inFolder = (text: string) => text.replaceAll('/var/lib/', `${folder}/`);
  const cwd = join(folder, 'petstore');
  const backups = join(folder, 'petstore-backups');
  const bin = join(folder, 'bin');
  for (const path of [cwd, backups, bin]) await mkdir(path);
  const writeCommand = (name: string, script: string) =>
    writeFile(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  await writeCommand('petstore', `exec '${process.execPath}' '${MAIN}' "$@"`);
  await writeCommand('runuser', 'shift 3; exec "$@"');
  // The test itself stops and starts the service.
  const backup = inFolder(await readBackupCommand());
  await writeCommand('systemctl', `[ "$*" != 'start petstore-backup' ] || exec ${backup}`);
  const env = {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    PETSTORE_DATABASE: `sqlite:${join(cwd, 'petstore.db')}`,
  };
  const run = (block: string) => promisify(execFile)('sh', ['-euc', inFolder(block)], { env });
  const [drill = '', restore = '', ...more] = await readDrill();
  assert.deepEqual(more, []);
  await writeFile(join(backups, 'petstore-2026-01-01T000000Z.db'), 'an older one');

  let key: string;
  let created = 0;
  let before: number;
  let counted: number;
  {
    await using service = await startService(['--log-level', 'silent'], { cwd });
    key = service.key;
    let isStopping = false;
    const creates = (async () => {
      while (!isStopping) created = await post(service);
    })();
    await until(() => created >= CREATED_MIN);
    before = created;
    const [inBackup = 0, inService = 0] = (await run(drill)).stdout.split('\n').map(Number);
    counted = inBackup;
    const after = created;
    assert.ok(inService >= counted && inService <= after, `${inService}`);
    await until(() => created > after);
    isStopping = true;
    await creates;
    service.process.kill('SIGTERM');
    await service.finished;
  }
  assert.ok(counted >= before && counted < created, `${before} <= ${counted} < ${created}`);

  await run(restore);
  const lost = (await readdir(cwd, { recursive: true })).filter((path) => path.startsWith('lost.'));
  assert.ok(lost.some((path) => path.endsWith('/petstore.db')));
  await using restored = await startService([], { cwd });
  assert.equal(restored.output.stdout, '');
  const { store, keys } = readFacts(restored);
  assert.equal(store, `sqlite:${join(cwd, 'petstore.db')}`);
  assert.equal(keys, 'npm run -s petstore -- keys create --name NAME --environment staging');
  assert.equal(await post({ ...restored, key }), counted + 1);
});
