/** A copy of a store as a new SQLite file, which exists whole or not at all. */

import { randomUUID } from 'node:crypto';
import { link, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PetstoreError } from '../error.ts';
import type { OnBackupProgress } from '../store.ts';
import { copyDatabase } from './copy.ts';
import type { Engine } from './engine.ts';
import { createPrivateFile } from './private-file.ts';

/**
 * Writes all that the engine's database holds to a new file.
 *
 * @param openCopy opens the empty file as the target of a copy.
 * @param finishCopy checks the copy once it is closed; damage is told of the second file.
 * @throws PetstoreError `bad_request` when the file exists or cannot be written.
 */
export function writeBackup(
  engine: Engine,
  file: string,
  openCopy: (file: string) => Promise<Engine>,
  finishCopy: (copy: string, told: string) => void,
  onProgress: OnBackupProgress = () => undefined,
): Promise<void> {
  return writeNewFile(file, async (partial) => {
    if (engine.copyTo) return engine.copyTo(partial, onProgress);
    const copy = await openCopy(partial);
    try {
      await copyDatabase(engine, copy, ({ phase, part }) => onProgress(phase, part));
    } finally {
      await copy.close();
    }
    onProgress('checking');
    finishCopy(partial, file);
  });
}

/** @param write fills an empty file, which gets its name once its content is on the disk. */
async function writeNewFile(
  file: string,
  write: (partial: string) => Promise<void>,
): Promise<void> {
  const partial = `${file}.${randomUUID()}.partial`;
  try {
    createPrivateFile(partial);
    await write(partial);
    await syncToDisk(partial);
    // A link fails when the file exists; a rename would replace it.
    await link(partial, file);
    await syncToDisk(dirname(file));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new PetstoreError('bad_request', `${file} exists already`);
    }
    if (cause instanceof PetstoreError) throw cause;
    throw new PetstoreError(
      'bad_request',
      `${file} cannot be written: its folder must exist and be writable, with room for the copy`,
      { cause },
    );
  } finally {
    // What failed before is told: of a path through a file this fails too.
    await rm(partial).catch(() => undefined);
  }
}

async function syncToDisk(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}
