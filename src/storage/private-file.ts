/** Files that only their owner may read and write, whatever the umask is: they hold pets and digests of keys. */

import { randomUUID } from 'node:crypto';
import { closeSync, openSync, rmSync } from 'node:fs';
import { link, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PetstoreError } from '../error.ts';

export const PRIVATE_FILE_MODE = 0o600;

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** Creates an empty file. @throws Error with the system's code, `EEXIST` when anything has that name. */
export function createPrivateFile(file: string): void {
  closeSync(openSync(file, 'wx', PRIVATE_FILE_MODE));
}

/**
 * Writes a file whole, or not at all.
 *
 * @param write fills an empty file; the file gets its name once its content is on the disk.
 * @throws PetstoreError `bad_request` when the file exists or cannot be written.
 */
export function writeNewFile<T>(file: string, write: (partial: string) => Promise<T>): Promise<T> {
  return withPartial(file, async (partial) => {
    try {
      createPrivateFile(partial);
      const result = await write(partial);
      await syncToDisk(partial);
      // A link fails when the file exists; a rename would replace it.
      await link(partial, file);
      await syncToDisk(dirname(file));
      return result;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'EEXIST') {
        throw new PetstoreError('bad_request', `${file} exists already`);
      }
      if (cause instanceof PetstoreError) {
        const { code, message } = cause;
        throw new PetstoreError(code, message.replaceAll(partial, file), { cause });
      }
      throw new PetstoreError(
        'bad_request',
        `${file} cannot be written: its folder must exist and be writable, with room for it`,
        { cause },
      );
    }
  });
}

/** Gives the work a new name beside the file. Nothing is left there, also when a signal ends the process. */
export async function withPartial<T>(
  file: string,
  work: (partial: string) => Promise<T>,
): Promise<T> {
  const partial = `${file}.${randomUUID()}.partial`;
  const end = (signal: NodeJS.Signals) => {
    remove(partial);
    // Without its listener the signal ends the process.
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.once(signal, end);
  try {
    return await work(partial);
  } finally {
    for (const signal of SIGNALS) process.off(signal, end);
    remove(partial);
  }
}

function remove(partial: string): void {
  // On a full disk SQLite leaves its log.
  for (const end of ['', '-journal', '-shm', '-wal']) {
    try {
      rmSync(`${partial}${end}`);
    } catch {
      // It is not there, or the failure before is the one to report.
    }
  }
}

async function syncToDisk(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}
