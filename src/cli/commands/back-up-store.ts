/** `petstore backup`: copies the whole store to a new file, or to a dated one of a directory, whose oldest it removes. */

import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Store } from '../../store.ts';
import { databaseOption, keepOption } from '../options.ts';
import { examples, toOneLine } from '../output.ts';
import { Progress, type ProgressStream } from '../progress.ts';
import { type StoreOptions, withStore } from '../with-store.ts';

/**
 * A dated backup, or, with `.partial`, what is left of one that was ended, and SQLite's files beside it.
 * Sorted by name, they are sorted by time.
 */
const DATED =
  /^petstore-\d{4}-\d\d-\d\dT\d{6}Z\.db(\.[\da-f-]{36}\.partial(-journal|-shm|-wal)?)?$/;

/** A backup that began longer ago is no longer under way. */
const PARTIAL_MS_MAX = 24 * 60 * 60 * 1_000;

export function addBackup(program: Command): void {
  program
    .command('backup')
    .description('copy the whole store to a new file, also while the service runs')
    .argument(
      '<file>',
      'the copy, an SQLite database; with --keep the directory for dated ones, which is made',
    )
    .addOption(databaseOption())
    .addOption(keepOption())
    .addHelpText(
      'after',
      examples(
        'petstore backup petstore-2026-11-21.db',
        'petstore backup --keep 14 /var/backups/petstore',
      ),
    )
    .action((target: string, options: StoreOptions & { keep?: number }) =>
      withStore(options, (store) => backUp(store, target, options.keep, process.stderr)),
    );
}

/** @param keep how many dated backups the directory `target` keeps; without it `target` is the new file. */
export async function backUp(
  store: Store,
  target: string,
  keep: number | undefined,
  stderr: ProgressStream,
  now: () => Date = () => new Date(),
): Promise<void> {
  const time = now();
  const name = toName(time);
  const file = keep === undefined ? target : join(target, name);
  if (keep !== undefined) {
    // If this fails, the backup says why it cannot be written.
    await mkdir(target, { recursive: true, mode: 0o700 }).catch(() => undefined);
  }
  const progress = new Progress(stderr);
  try {
    await store.backup(file, (phase, part) => {
      progress.part = part;
      progress.show(phase);
    });
  } finally {
    progress.clear();
  }
  stderr.write(`${toOneLine(`The store is copied to ${file}.`)}\n`);
  if (keep === undefined) return;
  const entries = await readdir(target, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  const dated = names.filter((other) => other !== name && DATED.test(other)).sort();
  const whole = dated.filter((other) => other.endsWith('.db'));
  const oldest = whole.slice(0, Math.max(0, whole.length + 1 - keep));
  const ended = toName(new Date(time.getTime() - PARTIAL_MS_MAX));
  const partial = dated.filter((other) => !whole.includes(other) && other < ended);
  for (const old of [...oldest, ...partial]) {
    await rm(join(target, old));
    stderr.write(`${toOneLine(`Removed ${join(target, old)}.`)}\n`);
  }
}

function toName(time: Date): string {
  return `petstore-${time.toISOString().replace(/:|\.\d+/g, '')}.db`;
}
