/** What the log says of a database that is away, also if no request comes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PetstoreError } from '../../src/error.ts';
import { createLog } from '../../src/service/open-log.ts';
import { watchStore } from '../../src/service/served-store.ts';

test('watchStore › the database is away twice › says each time once that it is away, and that it is back', async () => {
  const answers = ['away', 'away', 'here', 'here', 'away', 'here', 'here', 'stop'];
  const connections = { used: 0, idle: 0, waiting: 0, broken: 0 };
  const store = {
    countConnections: () => connections,
    async check() {
      if (answers.shift() === 'away') throw new PetstoreError('unavailable', 'it is away');
    },
  };
  const lines: string[] = [];
  const log = createLog('warn', (line) => lines.push(JSON.parse(line).msg));
  await watchStore(store, log, () => answers.length === 0, 1);
  const outage = ['it is away; requests are 503 until it is back', 'the database is back'];
  assert.deepEqual(lines, [...outage, ...outage]);
});
