/** Stands for `node:test` in the tests that mutation testing runs. */

import { getLoading, type TestBody } from './harness.ts';

type Options = Readonly<Record<string, unknown>>;

export function test(name: string, options: Options | TestBody, body?: TestBody): void {
  if (typeof options !== 'function' && options.skip) return;
  getLoading().addTest(name, (typeof options === 'function' ? options : body) as TestBody);
}

export function describe(name: string, options: Options | TestBody, body?: TestBody): void {
  const run = (typeof options === 'function' ? options : body) as () => unknown;
  getLoading().addSuite(name, run);
}

export const before = (hook: () => unknown) => getLoading().suite.before.push(hook);
export const after = (hook: () => unknown) => getLoading().suite.after.push(hook);
export const beforeEach = (hook: () => unknown) => getLoading().suite.beforeEach.push(hook);
export const afterEach = (hook: () => unknown) => getLoading().suite.afterEach.push(hook);
