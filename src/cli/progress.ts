/** How far a long command is, told on standard error; what the command does is not known here. */

/** What is needed of standard error. */
export interface ProgressStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

const REDRAW_MILLISECONDS = 100;
const LINE_MILLISECONDS = 5_000;
const BAR_CHARACTERS = 24;
const COLUMNS_DEFAULT = 80;

/** Back to the start of the terminal's line, and away with what stands there. */
const CLEAR_LINE = '\r\x1b[K';

/** A bar that is drawn anew on a terminal, now and then a line on anything else. */
export class Progress {
  readonly #stream: ProgressStream;
  readonly #verb: string;
  readonly #now: () => number;
  readonly #start: number;
  #shown: number;
  #count = 0;
  #part: number | undefined;

  /**
   * @param verb what happens to an animal, in the past: `imported`.
   * @param now the time in milliseconds.
   */
  constructor(stream: ProgressStream, verb: string, now: () => number = () => performance.now()) {
    this.#stream = stream;
    this.#verb = verb;
    this.#now = now;
    this.#start = now();
    this.#shown = this.#start;
  }

  /** How much of all is done, from 0 to 1; until it is told there is no percentage. */
  setPart(part: number): void {
    this.#part = part;
  }

  addAnimals(count: number): void {
    this.#count += count;
    const now = this.#now();
    if (now - this.#shown < (this.#stream.isTTY ? REDRAW_MILLISECONDS : LINE_MILLISECONDS)) return;
    this.#shown = now;
    if (this.#stream.isTTY) {
      // A line that wraps could not be drawn over.
      const line = this.#describe().slice(0, (this.#stream.columns ?? COLUMNS_DEFAULT) - 1);
      this.#stream.write(CLEAR_LINE + line);
    } else {
      this.#stream.write(`${this.#describe()}\n`);
    }
  }

  /** The last line: all is done. */
  finish(): void {
    this.clear();
    const seconds = this.#seconds().toFixed(1);
    this.#stream.write(`${this.#verb} ${this.#animals()} in ${seconds} s\n`);
  }

  /** Leaves a terminal's line empty for what is to be said next. */
  clear(): void {
    if (this.#stream.isTTY) this.#stream.write(CLEAR_LINE);
  }

  #describe(): string {
    const rate = Math.round(this.#count / this.#seconds()).toLocaleString('en-US');
    const words = `${this.#verb} ${this.#animals()}, ${rate}/s`;
    if (this.#part === undefined) return words;
    // A file may grow while it is read.
    const part = Math.min(this.#part, 1);
    const percent = `${Math.floor(part * 100)} %`.padStart(5);
    if (!this.#stream.isTTY) return `${percent.trim()}: ${words}`;
    const bar = '#'.repeat(Math.floor(part * BAR_CHARACTERS)).padEnd(BAR_CHARACTERS, '.');
    return `[${bar}] ${percent} ${words}`;
  }

  #animals(): string {
    return `${this.#count.toLocaleString('en-US')} ${this.#count === 1 ? 'animal' : 'animals'}`;
  }

  #seconds(): number {
    return (this.#now() - this.#start) / 1_000;
  }
}
