/** The progress of a long command: on a terminal, a line of standard error that is rewritten. */

import { PetstoreError } from '../error.ts';
import { toOneLine } from './output.ts';

export interface ProgressStream {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

const REWRITE_MS = 100;
const CLEAR_LINE = '\r\x1b[K';

export class Progress {
  pets = 0;
  /** The part of the phase that is done, from 0 to 1; undefined if it is not known. */
  part: number | undefined;
  readonly #stream: ProgressStream;
  readonly #start = performance.now();
  #phase = '';
  #shown = this.#start;

  constructor(stream: ProgressStream) {
    this.#stream = stream;
  }

  /** Rewrites the line at once for a new phase, else ten times a second. */
  show(phase: string): void {
    const now = performance.now();
    if (phase === this.#phase && now - this.#shown < REWRITE_MS) return;
    this.#phase = phase;
    this.#shown = now;
    if (!this.#stream.isTTY) return;
    // Above 1 when a file grows while it is read.
    const percent = this.part === undefined ? '' : `${Math.floor(Math.min(this.part, 1) * 100)} % `;
    const pets = this.pets === 0 ? '' : ` ${countPets(this.pets)}`;
    this.#stream.write(`${CLEAR_LINE}${percent}${phase}${pets}`);
  }

  /** Prints a line that stays. */
  say(line: string): void {
    this.clear();
    this.#stream.write(`${toOneLine(line)}\n`);
  }

  /** Says what was done to the pets, such as "imported". */
  finish(verb: string): void {
    const seconds = ((performance.now() - this.#start) / 1_000).toFixed(1);
    this.say(`${verb} ${countPets(this.pets)} in ${seconds} s`);
  }

  clear(): void {
    if (this.#stream.isTTY) this.#stream.write(CLEAR_LINE);
  }
}

/** Does the work. Its error says that nothing was done, such as "imported". */
export async function withProgress(
  stream: ProgressStream,
  verb: string,
  work: (progress: Progress) => Promise<void>,
): Promise<void> {
  const progress = new Progress(stream);
  try {
    await work(progress);
  } catch (cause) {
    progress.clear();
    if (!(cause instanceof PetstoreError)) throw cause;
    throw new PetstoreError(cause.code, `${cause.message}; nothing was ${verb}`, { cause });
  }
}

export function countPets(count: number): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? 'pet' : 'pets'}`;
}
