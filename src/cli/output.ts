/** What commands print: lines on standard error, tables, their progress, and examples in their help. */

import type { Command } from 'commander';
import { PetstoreError } from '../error.ts';
import { NEW_PET_FIELDS, type Pet } from '../pet.ts';
import { toPrintable, UNPRINTABLE } from '../printable.ts';
import type { Correction } from '../store.ts';

const STOP_SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;
const COMMIT_MS_MAX = 5_000;
const REWRITE_MS = 100;
const CLEAR_LINE = '\r\x1b[K';

/** Prints a line on standard error, which a script does not read as the result. It replaces the line of a progress. */
export function say(line: string): void {
  clearProgress();
  process.stderr.write(`${toPrintable(line.trim())}\n`);
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write(CLEAR_LINE);
}

export function addExamples(command: Command, ...lines: string[]): Command {
  return command.addHelpText('after', ['\nExamples:', ...lines].join('\n  '));
}

/** The cells in columns of a terminal. An unprintable character is shown as U+FFFD. */
export async function toTable(rows: readonly (readonly string[])[]): Promise<string> {
  // Loading it takes 60 ms: only tables wait for it.
  const { default: stringWidth } = await import('string-width');
  const cells = rows.map((row) => row.map((cell) => cell.replaceAll(UNPRINTABLE, '\ufffd')));
  const widths = (cells[0] ?? []).map((_, column) =>
    cells.reduce((widest, row) => Math.max(widest, stringWidth(row[column] ?? '')), 0),
  );
  const pad = (cell: string, column: number) =>
    cell + ' '.repeat((widths[column] ?? 0) - stringWidth(cell));
  return cells.map((row) => `${row.map(pad).join('  ').trimEnd()}\n`).join('');
}

const PET_HEAD = ['ID', ...NEW_PET_FIELDS.map(({ label }) => label.toUpperCase())];

export function toPetTable(pets: readonly Pet[]): Promise<string> {
  return toTable([PET_HEAD, ...pets.map(toCells)]);
}

export function toCorrectionTable(corrections: readonly Correction[]): Promise<string> {
  const toRows = ({ was, is }: Correction) => [
    ['was', ...toCells(was)],
    ['is', ...toCells(is)],
  ];
  return toTable([['', ...PET_HEAD], ...corrections.flatMap(toRows)]);
}

function toCells(pet: Pet): string[] {
  return [pet.id, ...NEW_PET_FIELDS.map(({ name }) => pet[name] ?? '-')].map(String);
}

export class Progress {
  pets = 0;
  /** Whether the commit has begun: without its answer, nobody knows whether the work was done. */
  isCommitting = false;
  /** How to see whether it was done. */
  look = '';
  #shown = performance.now();

  add(pets: number): void {
    this.pets += pets;
    const now = performance.now();
    if (!process.stderr.isTTY || now - this.#shown < REWRITE_MS) return;
    this.#shown = now;
    process.stderr.write(`${CLEAR_LINE}${countPets(this.pets)} so far`);
  }

  async *count<Item>(pets: AsyncIterable<Item>): AsyncGenerator<Item> {
    for await (const pet of pets) {
      this.add(1);
      yield pet;
    }
  }
}

/**
 * Does the work. Its error, or the line for a signal, says that nothing was done, such as "imported", or that this is not
 * known. Without a verb, an error says by itself that nothing was done.
 */
export async function withProgress(
  verb: string | undefined,
  work: (progress: Progress) => Promise<void>,
): Promise<void> {
  const progress = new Progress();
  let timer: NodeJS.Timeout | undefined;
  let stoppedBy: NodeJS.Signals | undefined;
  // A commit that waits for a standby is seen by nobody, and is done later.
  const describe = (done = verb ?? 'done') =>
    progress.isCommitting
      ? `it is not known whether anything was ${done}: when the database confirms writes again, in the same store, ${progress.look}`
      : `nothing was ${done}`;
  const end = (signal: NodeJS.Signals) => {
    say(`stopped: ${describe()}`);
    process.off(signal, stop);
    // Without a listener the signal ends the process.
    process.kill(process.pid, signal);
  };
  const stop = (signal: NodeJS.Signals) => {
    stoppedBy ??= signal;
    // The answer to a commit comes soon, unless the connection broke.
    timer ??= setTimeout(end, progress.isCommitting ? COMMIT_MS_MAX : 0, signal);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, stop);
  try {
    await work(progress);
  } catch (cause) {
    clearProgress();
    progress.isCommitting &&= !(cause instanceof PetstoreError) || cause.isUnsure;
    // The signal is the cause: another listener of it has removed the partial file.
    if (stoppedBy !== undefined) end(stoppedBy);
    if (!(cause instanceof PetstoreError)) throw cause;
    if (verb === undefined && !progress.isCommitting) throw cause;
    throw new PetstoreError(cause.code, `${cause.message}; ${describe()}`, { cause });
  } finally {
    clearTimeout(timer);
    for (const signal of STOP_SIGNALS) process.off(signal, stop);
  }
}

export function countPets(count: number): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? 'pet' : 'pets'}`;
}
