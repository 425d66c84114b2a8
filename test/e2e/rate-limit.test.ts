/** The rate limit of the real program: each process counts the requests of each key for itself. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type RunningService, startService } from '../support/program.ts';
import { send } from '../support/request.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const PER_SECOND = 1;
const BURST = 20;
const CONNECTIONS = 40;

const cwd = createProcessFolder();

/** Sends lists at once, each on a connection of its own, and counts those that pass. */
async function countPassed({ port, key }: RunningService): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, connection: 'close' };
  const sending = Array.from({ length: CONNECTIONS }, () =>
    send(port, { path: '/v1/pets', headers }),
  );
  const statuses = (await Promise.all(sending)).map(({ status }) => status);
  assert.ok(statuses.every((status) => status === 200 || status === 429));
  return statuses.filter((status) => status === 200).length;
}

/** The number of processes that have logged a refusal so far. */
function countRefusing({ output }: RunningService): number {
  const lines = output.stderr.split('\n').filter((line) => line.includes('"status":429,'));
  return new Set(lines.map((line) => /"pid":(\d+)/.exec(line)?.[1])).size;
}

describe('serve --rate-limit', () => {
  for (const workers of [1, 2]) {
    test(`serve --rate-limit --workers ${workers} › a flood › passes a burst and the rate of each process`, async () => {
      await using service = await startService(
        [
          ...['--database', `sqlite:${workers}.db`, '--workers', `${workers}`],
          ...['--rate-limit', `${PER_SECOND}`, '--rate-limit-burst', `${BURST}`],
        ],
        { cwd },
      );
      const began = performance.now();
      let passed = 0;
      await until(async () => {
        passed += await countPassed(service);
        return countRefusing(service) === workers;
      });
      const seconds = (performance.now() - began) / 1_000;
      const most = workers * (BURST + seconds * PER_SECOND);
      assert.ok(passed >= workers * BURST && passed <= most, `${passed} passed, of ${most}`);
    });
  }
});
