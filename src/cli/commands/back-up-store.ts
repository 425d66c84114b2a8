/** `petstore backup`: copies the store to a new file, or to a dated file of a directory, whose oldest it removes. */

import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { badRequest, unavailable } from '../../error.ts';
import { describeFileError } from '../../storage/private-file.ts';
import type { Store } from '../../store.ts';
import { countParser } from '../options.ts';
import { say, withProgress } from '../output.ts';
import { addStoreCommand, READS, withStore } from '../with-store.ts';

/** Sorted by name, dated backups are sorted by time. */
const DATED = /^petstore-\d{4}-\d\d-\d\dT\d{6}Z\.db$/;
/** Why a folder cannot be made. */
const NO_PARENT = 'cannot be made: its parent folder is missing, or its disk is read-only';

export function addBackup(program: Command): void {
  addStoreCommand(
    program,
    'backup',
    'petstore backup petstore-2026-11-21.db',
    'petstore backup --keep 14 /var/backups/petstore',
  )
    .description('copy the whole store to a new file, also while the service runs')
    .argument('<file>', 'the new SQLite database; with --keep its directory, made if it is missing')
    .option(
      '--keep <count>',
      'make a dated backup in the directory <file>, and keep this many of the newest backups',
      countParser(1, 1_000_000),
    )
    .action(
      withStore(
        (store, target: string, { keep }: { keep?: number }) =>
          keep === undefined ? backUp(store, target) : backUpDated(store, target, keep),
        READS,
      ),
    );
}

async function backUp(store: Store, file: string, folder?: string): Promise<void> {
  await withProgress('copied', async () => {
    if (folder !== undefined) await makeFolder(folder);
    await store.backup(file);
  });
  say(`The store is copied to ${file}.`);
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause) => {
    // If it is a file, the backup says so.
    if (cause.code === 'EEXIST') return;
    // Node gives this code also for a disk that is read-only.
    const why = cause.code === 'ENOENT' ? NO_PARENT : describeFileError(cause, 'made');
    throw badRequest(`${folder} ${why}`, { cause });
  });
}

/** Makes a backup in the folder, and removes the oldest: `keep` stay, and up to `keep - 1` of a later time. */
export async function backUpDated(
  store: Store,
  folder: string,
  keep: number,
  time = new Date(),
): Promise<void> {
  const name = `petstore-${time.toISOString().replace(/:|\.\d+/g, '')}.db`;
  await backUp(store, join(folder, name), folder);
  await removeOldest(folder, keep, name).catch((cause) => {
    const why = describeFileError(cause, 'read or removed');
    throw unavailable(`${cause.path} ${why}; the new backup is there`, { cause });
  });
}

async function removeOldest(folder: string, keep: number, newest: string): Promise<void> {
  const others = (await readdir(folder)).filter((other) => DATED.test(other) && other !== newest);
  const newestFirst = others.sort().reverse();
  // They are of a clock that was ahead: they would take the places of new backups.
  const later = newestFirst.filter((other) => other > newest);
  const earlier = newestFirst.slice(later.length);
  for (const old of [later, earlier].flatMap((each) => each.slice(keep - 1))) {
    const file = join(folder, old);
    await rm(file);
    say(`Removed ${file}.`);
  }
  for (const file of later.slice(0, keep - 1)) {
    const told =
      'has a later time: if this is wrong, rename it, or a restore takes it for the newest';
    say(`${join(folder, file)} ${told}`);
  }
}
