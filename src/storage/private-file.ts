/** Files that only their owner may read and write, whatever the umask is: they hold names of pets and digests of keys. */

import { closeSync, openSync } from 'node:fs';

export const PRIVATE_FILE_MODE = 0o600;

/** Creates an empty file. @throws Error with the system's code, `EEXIST` when anything has that name. */
export function createPrivateFile(file: string): void {
  closeSync(openSync(file, 'wx', PRIVATE_FILE_MODE));
}
