/** The progress of a long command, on standard error. */

/** The part of standard error that is used. */
export interface ProgressStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

const REDRAW_MILLISECONDS = 100;
const LINE_MILLISECONDS = 5_000;
const BAR_CHARACTERS = 24;
const COLUMNS_DEFAULT = 80;

/** Moves a terminal's cursor to the start of its line and erases the line. */
const CLEAR_LINE = '\r\x1b[K';

/** A bar that is redrawn on a terminal; on anything else a line every 5 s. */
export class Progress {
  readonly #stream: ProgressStream;
  readonly #verb: string;
  readonly #now: () => number;
  readonly #start: number;
  #shown: number;
  #count = 0;
  #part: number | undefined;

  /**
   * @param verb what is done to the pets, in the past tense: `imported`.
   * @param now the time in milliseconds.
   */
  constructor(stream: ProgressStream, verb: string, now: () => number = () => performance.now()) {
    this.#stream = stream;
    this.#verb = verb;
    this.#now = now;
    this.#start = now();
    this.#shown = this.#start;
  }

  /** The share of the work that is done, from 0 to 1; without it no percentage is shown. */
  setPart(part: number): void {
    this.#part = part;
  }

  addPets(count: number): void {
    this.#count += count;
    const now = this.#now();
    if (now - this.#shown < (this.#stream.isTTY ? REDRAW_MILLISECONDS : LINE_MILLISECONDS)) return;
    this.#shown = now;
    if (this.#stream.isTTY) {
      // A line that wraps could not be redrawn.
      const line = this.#describe().slice(0, (this.#stream.columns ?? COLUMNS_DEFAULT) - 1);
      this.#stream.write(CLEAR_LINE + line);
    } else {
      this.#stream.write(`${this.#describe()}\n`);
    }
  }

  /** Prints the last line. */
  finish(): void {
    this.clear();
    const seconds = this.#seconds().toFixed(1);
    this.#stream.write(`${this.#verb} ${this.#pets()} in ${seconds} s\n`);
  }

  /** Erases the bar, so that another line can be printed. */
  clear(): void {
    if (this.#stream.isTTY) this.#stream.write(CLEAR_LINE);
  }

  #describe(): string {
    const rate = Math.round(this.#count / this.#seconds()).toLocaleString('en-US');
    const words = `${this.#verb} ${this.#pets()}, ${rate}/s`;
    if (this.#part === undefined) return words;
    // Above 1 when a file grows while it is read.
    const part = Math.min(this.#part, 1);
    const percent = `${Math.floor(part * 100)} %`.padStart(5);
    if (!this.#stream.isTTY) return `${percent.trim()}: ${words}`;
    const bar = '#'.repeat(Math.floor(part * BAR_CHARACTERS)).padEnd(BAR_CHARACTERS, '.');
    return `[${bar}] ${percent} ${words}`;
  }

  #pets(): string {
    return `${this.#count.toLocaleString('en-US')} ${this.#count === 1 ? 'pet' : 'pets'}`;
  }

  #seconds(): number {
    return (this.#now() - this.#start) / 1_000;
  }
}
