/** Files that only their owner may read and write, whatever the umask is: they hold pets and digests of keys. */

import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { dirname, resolve } from 'node:path';
import { badRequest, PetstoreError } from '../error.ts';

const KNOWN: Readonly<Record<string, string>> = {
  EEXIST: 'exists already',
  EISDIR: 'is a folder',
  ERR_FS_EISDIR: 'is a folder in place of a file: move it away',
};
const OUT_OF_REACH = ['EACCES', 'ELOOP', 'ENAMETOOLONG', 'ENOTDIR', 'EPERM'];
const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** What follows the name of a file in a message. @param done what cannot be done with the file, such as `read`. */
export function describeFileError(
  { code = '', message }: NodeJS.ErrnoException,
  done: string,
): string {
  const reason = OUT_OF_REACH.includes(code)
    ? ` (${code}): check its path, and the rights of this user on its file and folders`
    : `: ${message}`;
  return KNOWN[code] ?? `cannot be ${done}${reason}`;
}

/** The file at the end of links, also if it is not there yet: the links stay. */
export function followLinks(file: string, linksMax = 40): string {
  try {
    const target = resolve(fs.realpathSync(dirname(file)), fs.readlinkSync(file));
    // Links in a circle have no end: whoever uses one of them fails.
    return linksMax === 0 ? file : followLinks(target, linksMax - 1);
  } catch {
    // It is no link.
    return file;
  }
}

/** Creates an empty file. @throws Error with the system's code, `EEXIST` when anything has that name. */
export function createPrivateFile(file: string): void {
  fs.closeSync(fs.openSync(file, 'wx', 0o600));
}

/**
 * Writes the file of a path whole, or not at all, also when a signal ends the process.
 *
 * @param write fills an empty file; the file gets its name once its content is on the disk.
 * @param replace whether the file may exist; a new file is a database.
 * @throws PetstoreError `bad_request` when the file or a log of it exists, or the file cannot be written.
 */
export async function writePrivateFile<T>(
  path: string,
  write: (partial: string) => Promise<T>,
  { replace = false } = {},
): Promise<T> {
  const file = followLinks(path);
  const partial = `${file}.${randomUUID()}.partial`;
  const end = (signal: NodeJS.Signals) => {
    remove(partial);
    // Without its listener the signal ends the process.
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.once(signal, end);
  try {
    if (!replace) refuseOldLog(file);
    createPrivateFile(partial);
    const result = await write(partial);
    await syncToDisk(partial);
    // From here to the end no signal is heard: the file is whole.
    (replace ? fs.renameSync : nameNewFile)(partial, file);
    syncFolder(dirname(file));
    return result;
  } catch (cause) {
    throw toWriteError(cause as NodeJS.ErrnoException, partial, path);
  } finally {
    for (const signal of SIGNALS) process.off(signal, end);
    remove(partial);
  }
}

/** Gives the partial file its name, unless anything has this name. */
function nameNewFile(partial: string, file: string): void {
  refuseOldLog(file);
  try {
    fs.linkSync(partial, file);
    return;
  } catch {
    // The name is taken, or the file system has no links: there an empty file takes the name first.
    createPrivateFile(file);
  }
  try {
    fs.renameSync(partial, file);
  } catch (cause) {
    fs.rmSync(file);
    throw cause;
  }
}

/** SQLite would take what an earlier database of this name has left for a part of the new one. */
export function refuseOldLog(file: string): void {
  for (const log of [`${file}-wal`, `${file}-journal`].filter((each) => fs.existsSync(each))) {
    throw badRequest(`${log} is of another database: put that back, or move it away`);
  }
}

/** Names the file in place of the partial one. An error of a bug stays as it is. */
function toWriteError(cause: NodeJS.ErrnoException, partial: string, file: string): Error {
  const message = cause.message.replaceAll(partial, file);
  if (cause instanceof PetstoreError) return new PetstoreError(cause.code, message, { cause });
  if (cause.code === undefined) return cause;
  const what = describeFileError({ ...cause, message }, 'written');
  return badRequest(`${file} ${what}`, { cause });
}

function remove(partial: string): void {
  // On a full disk SQLite leaves its log.
  for (const end of ['', '-journal', '-shm', '-wal']) {
    try {
      fs.rmSync(`${partial}${end}`);
    } catch {
      // It is not there, or the failure before is the one to report.
    }
  }
}

async function syncToDisk(file: string): Promise<void> {
  // Windows syncs only a file that is open for writing.
  await using handle = await fs.promises.open(file, 'r+');
  await handle.sync();
}

/** As SQLite does, it tries: not every folder can be read, and not every file system can sync one. */
function syncFolder(folder: string): void {
  let handle: number | undefined;
  try {
    handle = fs.openSync(folder, 'r');
    fs.fsyncSync(handle);
  } catch {
    // The file is whole.
  } finally {
    if (handle !== undefined) fs.closeSync(handle);
  }
}
