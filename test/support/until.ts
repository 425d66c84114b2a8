/** Waits for what happens soon, but not at once. */

import assert from 'node:assert/strict';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { HANG_MS } from './hang.ts';

/** Resolves when it is so; fails when it does not become so. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  msMax = HANG_MS,
): Promise<void> {
  const deadline = performance.now() + msMax;
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, `not so within ${msMax} ms: ${isSo}`);
    await setTimeout(10);
  }
}

/** What the promise resolves to; fails when it takes too long, so that a test says which wait was in vain. */
export function within<T>(promise: Promise<T>, msMax = HANG_MS): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  // Made here, its stack names the wait.
  const error = new Error(`nothing came within ${msMax} ms`);
  const timer = globalThis.setTimeout(reject, msMax, error);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Resolves when the event loop has looked for requests once more: after the end of this turn and of the next. */
export async function nextPoll(): Promise<void> {
  for (let phase = 0; phase < 2; phase += 1) await setImmediate();
}
