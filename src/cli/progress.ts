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

/** A part of the work, with a bar of its own. */
interface Phase {
  /** What is done to the pets, in the past tense: `imported`. */
  readonly verb: string;
  readonly start: number;
  count: number;
  /** All pets, when their number is known. */
  total?: number | undefined;
  part?: number;
}

/** A bar that is redrawn on a terminal; on anything else a line every 5 s. */
export class Progress {
  readonly #stream: ProgressStream;
  readonly #now: () => number;
  readonly #first: Phase;
  #phase: Phase;
  #shown: number;

  /**
   * @param verb what is done to the pets in the first phase, which the last line tells.
   * @param now the time in milliseconds.
   */
  constructor(stream: ProgressStream, verb: string, now: () => number = () => performance.now()) {
    this.#stream = stream;
    this.#now = now;
    this.#first = { verb, start: now(), count: 0 };
    this.#phase = this.#first;
    this.#shown = this.#first.start;
  }

  /**
   * Begins a phase, unless it is under way, and shows it at once: it may be a single statement.
   *
   * @param total all pets, when their number is known.
   */
  setPhase(verb: string, total?: number): void {
    const now = this.#now();
    const isNew = verb !== this.#phase.verb;
    if (isNew) this.#phase = { verb, start: now, count: 0 };
    this.#phase.total = total;
    const isLong = this.#stream.isTTY || now - this.#first.start >= LINE_MILLISECONDS;
    if (isNew && isLong) this.#show(now);
  }

  /** The share of the phase that is done, from 0 to 1; without it that of the total is shown. */
  setPart(part: number): void {
    this.#phase.part = part;
  }

  addPets(count: number): void {
    this.#phase.count += count;
    const now = this.#now();
    if (now - this.#shown < (this.#stream.isTTY ? REDRAW_MILLISECONDS : LINE_MILLISECONDS)) return;
    this.#show(now);
  }

  /** Prints the last line. */
  finish(): void {
    this.clear();
    const { verb, count, start } = this.#first;
    const seconds = ((this.#now() - start) / 1_000).toFixed(1);
    this.#stream.write(`${verb} ${toPets(count)} in ${seconds} s\n`);
  }

  /** Erases the bar, so that another line can be printed. */
  clear(): void {
    if (this.#stream.isTTY) this.#stream.write(CLEAR_LINE);
  }

  #show(now: number): void {
    this.#shown = now;
    const line = describe(this.#phase, now, this.#stream.isTTY === true);
    // A line that wraps could not be redrawn.
    if (this.#stream.isTTY) {
      // Some terminals report 0 columns.
      this.#stream.write(CLEAR_LINE + line.slice(0, (this.#stream.columns || COLUMNS_DEFAULT) - 1));
    } else this.#stream.write(`${line}\n`);
  }
}

function describe({ verb, start, count, total, part }: Phase, now: number, hasBar: boolean) {
  const rate = Math.round(count / ((now - start) / 1_000)).toLocaleString('en-US');
  // More pets than the total when some are added meanwhile.
  const pets =
    total !== undefined && total >= count ? `${toCount(count)} of ${toPets(total)}` : toPets(count);
  const words = count === 0 ? verb : `${verb} ${pets}, ${rate}/s`;
  const share = part ?? (total === undefined ? undefined : count / total);
  if (share === undefined) return words;
  // Above 1 when a file grows while it is read; not a number when there is nothing to do.
  const done = Math.min(share || 0, 1);
  const percent = `${Math.floor(done * 100)} %`.padStart(5);
  if (!hasBar) return `${percent.trim()}: ${words}`;
  const bar = '#'.repeat(Math.floor(done * BAR_CHARACTERS)).padEnd(BAR_CHARACTERS, '.');
  return `[${bar}] ${percent} ${words}`;
}

function toPets(count: number): string {
  return `${toCount(count)} ${count === 1 ? 'pet' : 'pets'}`;
}

function toCount(count: number): string {
  return count.toLocaleString('en-US');
}
