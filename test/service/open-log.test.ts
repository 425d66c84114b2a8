/** The log of a process that ends before its lines are written. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const LOG = new URL('../../src/service/open-log.ts', import.meta.url).href;
const PROGRAM = `import { openLog } from '${LOG}'; openLog('info').log.info('last'); process.exit(3);`;

test('log › of a process that ends at once › has its last line', () => {
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', PROGRAM],
    {
      encoding: 'utf8',
    },
  );
  assert.equal(status, 3, stderr);
  assert.equal(JSON.parse(stderr).msg, 'last');
});
