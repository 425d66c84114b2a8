/** Runs the test files of a process, one after the other. */

import { after } from 'node:test';

const ROOT = new URL('../../', import.meta.url);

/**
 * Each file is a suite, which its hooks belong to; it is loaded when those before it are done.
 *
 * @param addSuite calls `describe`, by whose place the runner tells a hook that failed.
 */
export async function runFiles(
  files: readonly string[],
  addSuite: (file: string, load: () => Promise<void>) => void,
): Promise<void> {
  let left = files.length;
  // A test that ends the process would take those after it out of the run.
  process.on('exit', () => {
    if (left > 0) process.exitCode = 1;
  });
  for (const file of files) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    addSuite(file, () =>
      // One that cannot be loaded ends the process, which the runner tells as a failure of all its files.
      import(new URL(file, ROOT).href).then(() => after(() => resolve()), reject),
    );
    await promise;
    left -= 1;
  }
}
