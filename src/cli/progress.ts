/** The progress of a long command: one line of standard error, which is rewritten, on a terminal only. */

export interface ProgressStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

const REWRITE_MS = 100;
const COLUMNS_DEFAULT = 80;

const CLEAR_LINE = '\r\x1b[K';

export class Progress {
  pets = 0;
  /** The share of the phase that is done, from 0 to 1, when it is known. */
  part: number | undefined;
  readonly #stream: ProgressStream;
  readonly #start = performance.now();
  #phase = '';
  #shown = this.#start;

  constructor(stream: ProgressStream) {
    this.#stream = stream;
  }

  /** Rewrites the line: a new phase at once, and else ten times a second. */
  show(phase: string): void {
    const now = performance.now();
    if (phase === this.#phase && now - this.#shown < REWRITE_MS) return;
    this.#phase = phase;
    this.#shown = now;
    if (!this.#stream.isTTY) return;
    // Above 1 when a file grows while it is read.
    const percent = this.part === undefined ? '' : `${Math.floor(Math.min(this.part, 1) * 100)} % `;
    const line = `${percent}${phase}${this.pets === 0 ? '' : ` ${countPets(this.pets)}`}`;
    // A line that wraps could not be rewritten. Some terminals report 0 columns.
    this.#stream.write(CLEAR_LINE + line.slice(0, (this.#stream.columns || COLUMNS_DEFAULT) - 1));
  }

  /** Prints the last line: what was done to the pets, such as "imported". */
  finish(verb: string): void {
    this.clear();
    const seconds = ((performance.now() - this.#start) / 1_000).toFixed(1);
    this.#stream.write(`${verb} ${countPets(this.pets)} in ${seconds} s\n`);
  }

  /** Makes room for another line. */
  clear(): void {
    if (this.#stream.isTTY) this.#stream.write(CLEAR_LINE);
  }
}

export function countPets(count: number): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? 'pet' : 'pets'}`;
}
