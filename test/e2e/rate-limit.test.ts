/** The rate limit of the real program: each process counts the requests of each key for itself. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type RunningService, startService } from '../support/program.ts';
import { exchange } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const PER_SECOND = 60;
const BURST = 300;
const CONNECTIONS = 12;
/** The requests of a connection that are at work at a time; a refusal takes half a second. */
const AT_WORK = 4;
const WAIT_MS_MAX = 20_000;

const cwd = createProcessFolder();

const start = (database: string, ...args: readonly string[]) =>
  startService(
    [
      ...['--database', `sqlite:${database}.db`, '--rate-limit', String(PER_SECOND)],
      ...['--rate-limit-burst', String(BURST), ...args],
    ],
    { cwd },
  );

/** The heads of the answers to so many lists on one connection, which all are sent at once. */
async function askAtOnce({ port, key }: RunningService, count: number): Promise<string[]> {
  const list = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
  const last = `${list}Connection: close\r\n\r\n`;
  const text = await exchange(port, `${list}\r\n`.repeat(count - 1) + last);
  const heads = text.split('HTTP/1.1 ').slice(1);
  assert.equal(heads.length, count);
  return heads;
}

/** Rounds of many requests, on several connections, until it is over. */
async function flood(service: RunningService, isOver: (sum: Sum) => boolean): Promise<Sum> {
  const began = performance.now();
  const sum = { passed: 0, refused: 0, most: 0 };
  do {
    const count = sum.refused > 0 ? AT_WORK : BURST / CONNECTIONS + AT_WORK;
    const round = Array.from({ length: CONNECTIONS }, () => askAtOnce(service, count));
    for (const head of (await Promise.all(round)).flat()) {
      if (head.startsWith('200 ')) sum.passed += 1;
      else {
        assert.match(head, /^429 /);
        sum.refused += 1;
      }
    }
    sum.most = BURST + ((performance.now() - began) * PER_SECOND) / 1_000;
    assert.ok(performance.now() - began < WAIT_MS_MAX, JSON.stringify(sum));
  } while (!isOver(sum));
  return sum;
}

interface Sum {
  readonly passed: number;
  readonly refused: number;
  /** The requests that one process may have passed in that time. */
  readonly most: number;
}

/** The processes that have logged an answer of that status so far. */
function listProcesses({ output }: RunningService, status: number): number[] {
  const lines = output.stderr.split('\n').filter((line) => line.includes(`"status":${status},`));
  return [...new Set(lines.map((line) => Number(/"pid":(\d+)/.exec(line)?.[1])))];
}

describe('serve --rate-limit', () => {
  test('serve --rate-limit › one process › passes a burst and no more than the rate', async () => {
    await using service = await start('single');
    const { passed, most } = await flood(service, ({ refused }) => refused > 0);
    assert.ok(passed >= BURST && passed <= most, `${passed} passed, of ${most}`);
  });

  test('serve --rate-limit --workers 2 › a flood on both › each process passes as much as one', async () => {
    await using service = await start('both', '--workers', '2');
    const { passed, most } = await flood(service, () => listProcesses(service, 429).length === 2);
    assert.ok(passed >= 2 * BURST && passed <= 2 * most, `${passed} passed, of ${2 * most}`);
  });
});
