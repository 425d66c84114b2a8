/** The share of each key under load shedding, of a shedder whose clock and event loop the test moves. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createLoadShedder } from '../../src/http/hooks/shed-load.ts';
import { LATE_MS } from '../../src/http/limits.ts';

function openShedder({ mock }: TestContext) {
  let clock = 1_000;
  const loop = { utilization: 1 };
  mock.method(performance, 'now', () => clock);
  mock.method(performance, 'eventLoopUtilization', () => loop);
  mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const load = createLoadShedder();
  const answers: unknown[] = [];
  const reply = {
    raw: {},
    code: (status: number) => answers.push(status) && reply,
    header: (name: string, value: unknown) => answers.push([name, value]) && reply,
    send: (body: unknown) => answers.push(body) && reply,
  } as unknown as FastifyReply;
  const create = (keyId: number | null, method: string, ms = 0) =>
    ({ keyId, method, startedAt: clock - ms, share: null }) as FastifyRequest;
  const begin = (keyId = 1, method = 'POST') => {
    const request = create(keyId, method);
    let isPassed = false;
    load.shed(request, reply, () => {
      isPassed = true;
    });
    assert.equal(isPassed, request.share !== null);
    return request;
  };
  const wait = (ms: number) => {
    clock += ms;
    mock.timers.tick(ms);
  };
  const answer = (ms: number, method = 'GET', keyId: number | null = null) =>
    load.settle(create(keyId, method, ms), clock);
  return {
    ...{ load, loop, answers, begin, wait, answer },
    /** How many requests of the key may be at work, up to 2,000. */
    countShare(keyId = 1): number {
      const begun: FastifyRequest[] = [];
      while (begun.length < 2_000) {
        const request = begin(keyId);
        if (request.share === null) break;
        begun.push(request);
      }
      for (const request of begun) load.settle(request, clock);
      return begun.length;
    },
    /** An answer that is late, of a request that began after the last look, and the next look. */
    answerLate() {
      wait(200);
      answer(LATE_MS + 1);
      answer(1);
      wait(100);
    },
  };
}

test('load shedding › each late answer › halves the bound, down to the least one', (t) => {
  const { answerLate, countShare } = openShedder(t);
  assert.equal(countShare(), 2_000);
  for (const share of [512, 256, 128, 64, 64]) {
    answerLate();
    assert.equal(countShare(), share);
  }
});

test('load shedding › a late answer to a get of a key › halves the bound', (t) => {
  const { begin, load, wait, countShare } = openShedder(t);
  const request = begin(1, 'GET');
  wait(LATE_MS + 1);
  load.settle(request, performance.now());
  wait(100);
  assert.equal(countShare(), 512);
});

test('load shedding › what is not late, or not for want of time › bounds nobody', (t) => {
  const { answer, wait, loop, countShare } = openShedder(t);
  answer(LATE_MS);
  wait(100);
  answer(500, 'POST');
  wait(100);
  // One that was refused itself.
  answer(LATE_MS + 1, 'GET', 1);
  wait(100);
  loop.utilization = 0.9;
  answer(LATE_MS + 1);
  wait(100);
  // It was looked at already.
  loop.utilization = 1;
  wait(100);
  assert.equal(countShare(), 2_000);
});

test('load shedding › a late answer of a request from before the bound › does not halve it again', (t) => {
  const { answerLate, answer, wait, countShare } = openShedder(t);
  answerLate();
  wait(LATE_MS - 1);
  answer(LATE_MS);
  wait(2);
  answer(LATE_MS + 1);
  wait(99);
  assert.equal(countShare(), 512);
});

test('load shedding › no late answer for a second › lets the bound grow by a twentieth, ten times a second', (t) => {
  const { answerLate, wait, countShare } = openShedder(t);
  answerLate();
  for (const [ms, share] of [
    [1_000, 512],
    [100, 538],
    [100, 565],
  ] as const) {
    for (let waited = 0; waited < ms; waited += 100) wait(100);
    assert.equal(countShare(), share);
  }
});

test('load shedding › keys with requests at work › share the bound, until they are answered', (t) => {
  const { answerLate, begin, load, countShare } = openShedder(t);
  answerLate();
  const other = [begin(2), begin(2)] as const;
  assert.equal(countShare(), 256);
  for (const request of [other[0], other[0]]) load.settle(request, 0);
  assert.equal(countShare(), 256);
  load.settle(other[1], 0);
  assert.equal(countShare(), 512);
});

test('load shedding › a request above its share › is answered 503 after half a second', (t) => {
  const { answerLate, begin, wait, answers } = openShedder(t);
  answerLate();
  for (let count = 0; count < 512; count += 1) begin();
  assert.deepEqual(answers, []);
  const { refusal } = begin();
  assert.deepEqual(refusal, { code: 'unavailable', reason: 'the key has its share at work' });
  wait(499);
  assert.deepEqual(answers, [503, ['retry-after', 1]]);
  wait(1);
  assert.deepEqual(Object(answers[2]).code, 'unavailable');
});

test('load shedding › once it is closed › looks at nothing', (t) => {
  const { load, answerLate, countShare } = openShedder(t);
  load.close();
  answerLate();
  assert.equal(countShare(), 2_000);
});
