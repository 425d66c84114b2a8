/** `petstore backup`: copies the store to a new file, or to a dated file of a directory, whose oldest it removes. */

import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Store } from '../../store.ts';
import { countParser } from '../options.ts';
import { type ProgressStream, withProgress } from '../output.ts';
import { addStoreCommand, withStore } from '../with-store.ts';

/** Sorted by name, dated backups are sorted by time. */
const DATED = /^petstore-\d{4}-\d\d-\d\dT\d{6}Z\.db$/;

/** What a backup left that was ended, and the files of SQLite beside it. */
const PARTIAL = /^petstore-\d{4}-\d\d-\d\dT\d{6}Z\.db\.[\da-f-]{36}\.partial(-journal|-shm|-wal)?$/;

/** A backup that began earlier has ended. */
const BACKUP_MS_MAX = 24 * 60 * 60 * 1_000;

export function addBackup(program: Command): void {
  addStoreCommand(
    program,
    'backup',
    'petstore backup petstore-2026-11-21.db',
    'petstore backup --keep 14 /var/backups/petstore',
  )
    .description('copy the whole store to a new file, also while the service runs')
    .argument(
      '<file>',
      'the new file, an SQLite database; with --keep the directory, which is made if it is missing',
    )
    .option(
      '--keep <count>',
      'make a dated backup in the directory <file>, and keep this many of the newest backups',
      countParser(1, 1_000_000),
    )
    .action(
      withStore((store, target: string, { keep }: { keep?: number }) =>
        backUp(store, target, keep, process.stderr),
      ),
    );
}

/** @param keep how many dated backups the directory `target` keeps; without it `target` is the new file. */
export async function backUp(
  store: Store,
  target: string,
  keep: number | undefined,
  stderr: ProgressStream,
  time = new Date(),
): Promise<void> {
  const file = keep === undefined ? target : join(target, toName(time));
  if (keep !== undefined) {
    // If this fails, the backup says why it cannot be written.
    await mkdir(target, { recursive: true, mode: 0o700 }).catch(() => undefined);
  }
  await withProgress(stderr, 'copied', async (progress) => {
    await store.backup(file, (phase, part) => {
      progress.part = part;
      progress.show(phase);
    });
    progress.say(`The store is copied to ${file}.`);
    if (keep === undefined) return;
    for (const old of await listOld(target, time, keep)) {
      await rm(old);
      progress.say(`Removed ${old}.`);
    }
  });
}

/** The files to remove beside the new backup: those that are too many, and what ended backups left. */
async function listOld(folder: string, time: Date, keep: number): Promise<string[]> {
  const names = await readdir(folder);
  const others = names.filter((name) => DATED.test(name) && name !== toName(time));
  const newestFirst = others.sort().reverse();
  const ended = toName(new Date(time.getTime() - BACKUP_MS_MAX));
  const parts = names.filter((name) => PARTIAL.test(name) && name < ended).sort();
  return [...newestFirst.slice(keep - 1), ...parts].map((name) => join(folder, name));
}

function toName(time: Date): string {
  return `petstore-${time.toISOString().replace(/:|\.\d+/g, '')}.db`;
}
