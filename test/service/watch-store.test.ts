/** The watch of a database: what the log says when it is away, also if no request comes, and its one timer. */

import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { test } from 'node:test';
import { PetstoreError } from '../../src/error.ts';
import { createLog } from '../../src/service/open-log.ts';
import { watchStore } from '../../src/service/served-store.ts';

/** Resolves when the service stops: before the last answer is given. */
async function watch(answers: string[], onCheck = () => {}): Promise<string[]> {
  const connections = { used: 0, idle: 0, waiting: 0, broken: 0 };
  const store = {
    countConnections: () => connections,
    async check() {
      onCheck();
      if (answers.shift() === 'away') throw new PetstoreError('unavailable', 'it is away');
    },
  };
  const lines: string[] = [];
  const log = createLog('warn', (line) => lines.push(JSON.parse(line).msg));
  await watchStore(store, log, () => answers.length === 0, 1);
  return lines;
}

test('watchStore › the database is away twice › says each time once that it is away, and that it is back', async () => {
  const lines = await watch(['away', 'away', 'here', 'here', 'away', 'here', 'here', 'stop']);
  const outage = ['it is away; requests are 503 until it is back', 'the database is back'];
  assert.deepEqual(lines, [...outage, ...outage]);
});

test('watchStore › checks that fail, then the end of the service › have one timer at a time, which keeps no process', async () => {
  const timers: object[] = [];
  const hook = createHook({
    init: (_id, type, _trigger, timer) => type === 'Timeout' && timers.push(timer),
  });
  const countKeeping = () =>
    process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const keeping: number[] = [];
  const others = countKeeping();
  hook.enable();
  // By the end of a turn, a check has failed and the next one has its timer.
  await watch(['away', 'here', 'away', 'stop'], () => {
    setImmediate(() => keeping.push(countKeeping()));
  });
  await new Promise(setImmediate);
  hook.disable();
  assert.deepEqual(keeping, Array(4).fill(others));
  assert.equal(timers.length, keeping.length);
});
