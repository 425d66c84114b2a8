/** Standard error, of a terminal or not, that keeps what it is told. */

import type { TestContext } from 'node:test';

/** Takes the place of standard error until the test ends. */
export function keepStandardError(t: TestContext, isTTY = false): { readonly text: string } {
  const stream = {
    isTTY,
    text: '',
    write(text: string) {
      this.text += text;
    },
  };
  t.mock.getter(process, 'stderr', () => stream as unknown as NodeJS.WriteStream);
  return stream;
}
