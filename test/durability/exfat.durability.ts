/** A disk without hard links: all that makes a file there is whole, replaces nothing, and leaves nothing else. */

import assert from 'node:assert/strict';
import { linkSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertRefused, runProgram } from '../support/program.ts';
import { mountExfat } from '../support/small-disk.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const PET = '{"id":1,"name":"Rex","categoryId":3}\n';

test('exFAT › backups, a copy, an import and an export › are whole, and replace nothing', async () => {
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
