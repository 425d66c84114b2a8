/** Standard output: what a command prints there is written whole, or the command fails. */

import { fstatSync, fsyncSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { badRequest } from '../error.ts';

const STANDARD_OUTPUT = 1;

/** Resolves once the text is written. @throws Error of the system when it is not, or not whole. */
export async function writeOutput(text: string): Promise<void> {
  const { stdout } = process;
  // When a full disk cuts a write to a file short, the stream of Node takes it for whole.
  if (stdout.fd === STANDARD_OUTPUT && !(stdout instanceof Socket)) {
    return writeFileSync(STANDARD_OUTPUT, text);
  }
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  stdout.write(text, (error) => (error ? reject(error) : resolve()));
  return promise;
}

/** Prints a result. The command goes on if this fails, and tells what it has done: the exit status is of the failure. */
export async function print(text: string): Promise<void> {
  await writeOutput(text).catch((error) => process.stdout.emit('error', error));
}

/** Prints lines that undo what is done next. @throws PetstoreError when they are not on the disk: then nothing may be done. */
export async function printUndo(lines: readonly string[]): Promise<void> {
  try {
    await writeOutput(lines.map((line) => `${line}\n`).join(''));
    if (fstatSync(STANDARD_OUTPUT).isFile()) fsyncSync(STANDARD_OUTPUT);
  } catch (cause) {
    const message = `standard output cannot be written, so nothing is changed: ${(cause as Error).message}`;
    throw badRequest(message, { cause });
  }
}
