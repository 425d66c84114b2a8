/** What commands print: lines on standard error, tables, their progress, and examples in their help. */

import { PetstoreError } from '../error.ts';

/** Control characters, line ends, and characters that change the direction of the text after them. */
export const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;

/** Prints a line on standard error, which a script does not read as the result. */
export function say(line: string): void {
  process.stderr.write(`${toOneLine(line)}\n`);
}

/** The text without control characters: a terminal would act on those in a file name or an argument. */
export function toOneLine(text: string): string {
  return text.trim().replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}

export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

/** The cells in columns of a terminal. An unprintable character becomes an escape. */
export async function toTable(rows: readonly (readonly string[])[]): Promise<string> {
  // Loading it takes 60 ms: only tables wait for it.
  const { default: stringWidth } = await import('string-width');
  const cells = rows.map((row) => row.map((cell) => cell.replace(UNPRINTABLE, toEscape)));
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((row) => stringWidth(row[column] ?? ''))),
  );
  const pad = (cell: string, column: number) =>
    cell + ' '.repeat((widths[column] ?? 0) - stringWidth(cell));
  return cells.map((row) => `${row.map(pad).join('  ').trimEnd()}\n`).join('');
}

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const REWRITE_MS = 100;
const CLEAR_LINE = '\r\x1b[K';

export interface ProgressStream {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

/** The progress of a long command: on a terminal, a line of standard error that is rewritten. */
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
