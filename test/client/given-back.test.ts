/** What a call of the client takes, it gives back at each of its ends: timers, listeners of its signal, connections. */

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { createServer } from 'node:http';
import { after, type TestContext, test } from 'node:test';
import { PetstoreClient } from '../../client/petstore-client.ts';
import { listen } from '../support/socket.ts';
import { countTimers } from '../support/timers.ts';
import { until } from '../support/until.ts';

/** More than the 10 listeners of which Node warns. */
const CALLS = 20;

/** How many calls came to the place where their signal ends them. */
let reached = 0;
const reach = () => {
  reached += 1;
};
const hang = () => {
  reach();
  return new Promise<never>(() => {});
};
const fail = () => Promise.reject(new RangeError('not now'));

let open = 0;
const server = createServer(({ url }, response) => {
  open += 1;
  response.on('close', () => {
    open -= 1;
  });
  if (url === '/silent/pets?') return reach();
  if (url === '/half/pets?') return response.write('[');
  if (url === '/broken/pets?') return response.write('[', () => response.destroy());
  if (url === '/busy/pets?') response.writeHead(503, { 'retry-after': '60' });
  return response.end(url === '/pets/pets?' ? '[]' : '{"code":"unavailable","message":"later"}');
});
const port = await listen(server);
after(() => {
  server.closeAllConnections();
  server.close();
});

const warnings: Error[] = [];
process.on('warning', (warning) => warnings.push(warning));

const ONCE = { retries: 0 };
/** Only the test ends this time. */
const LATE = { retries: 0, timeoutMs: 987_654 };
const LEFT = { message: 'the user left' };

/** Ends the time of each call that has not cleared its timer; returns how many these were. */
function watchLimits(t: TestContext): () => number {
  const limits = new Map<NodeJS.Timeout, () => void>();
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  t.mock.method(globalThis, 'setTimeout', (run: () => void, ms: number, ...values: unknown[]) => {
    const timer = set(run, ms, ...(values as []));
    if (ms === LATE.timeoutMs) limits.set(timer, run);
    return timer;
  });
  t.mock.method(globalThis, 'clearTimeout', (timer: NodeJS.Timeout) => {
    limits.delete(timer);
    clear(timer);
  });
  return () => [...limits.values()].map((end) => end()).length;
}

for (const [end, path, options, error] of [
  ['success', 'pets', {}, undefined],
  ['a refusal', 'busy', ONCE, { status: 503 }],
  ['an answer of something else', 'page', {}, { code: 'invalid_answer' }],
  ['an answer that breaks', 'broken', ONCE, { code: 'no_answer' }],
  ['no answer in time', 'silent', LATE, { code: 'timed_out' }],
  ['a fetch that heeds no signal', 'pets', { ...LATE, fetch: hang }, { code: 'timed_out' }],
  ['half an answer in time', 'half', { ...LATE, onAnswer: reach }, { code: 'timed_out' }],
  ['no key', 'pets', { apiKey: () => '' }, { name: 'TypeError' }],
  ['apiKey that throws', 'pets', { apiKey: fail }, { name: 'RangeError' }],
  ['onRequest that throws', 'pets', { onRequest: fail }, { name: 'RangeError' }],
  ['onResponse that throws', 'pets', { onResponse: fail }, { name: 'RangeError' }],
  ['the signal in apiKey', 'pets', { apiKey: hang }, LEFT],
  ['the signal in onRequest', 'pets', { onRequest: hang }, LEFT],
  ['the signal before an answer', 'silent', {}, LEFT],
  ['the signal in an answer', 'half', { onAnswer: reach }, LEFT],
  ['the signal in onResponse', 'pets', { onResponse: hang }, LEFT],
  ['the signal in a pause', 'busy', { onResponse: reach }, LEFT],
] as const) {
  test(`client › ${CALLS} calls with one signal, ended by ${end} › leave no timer, listener, request or body`, async (t) => {
    reached = 0;
    const endLimits = watchLimits(t);
    const timers = countTimers();
    const answers: Response[] = [];
    const { onAnswer, ...others } = { onAnswer: () => {}, ...options };
    const petstore = new PetstoreClient({
      baseUrl: `http://127.0.0.1:${port}/${path}`,
      apiKey: 'key',
      async fetch(...sent) {
        const answer = await fetch(...sent);
        answers.push(answer);
        onAnswer();
        return answer;
      },
      ...others,
    });
    const controller = new AbortController();
    const { signal } = controller;
    const calls = Array.from({ length: CALLS }, () => petstore.listPage({ signal }));
    const ended = Promise.allSettled(calls);
    const isLate = Object(error).code === 'timed_out';
    if (isLate || error === LEFT) await until(() => reached === CALLS);
    if (error === LEFT) controller.abort(new Error(LEFT.message));
    assert.equal(endLimits(), isLate ? CALLS : 0);
    await ended;
    for (const call of calls) {
      if (error === undefined) assert.deepEqual(await call, { pets: [] });
      else await assert.rejects(call, error);
    }
    assert.equal(getEventListeners(signal, 'abort').length, 0);
    assert.equal(countTimers(), timers);
    assert.ok(answers.every(({ bodyUsed }) => bodyUsed));
    await until(() => open === 0);
    assert.deepEqual(warnings, []);
  });
}
