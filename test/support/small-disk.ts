/** A small disk, which can be filled; needs root. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const DISK_BYTES = 8 * 1024 ** 2;

/** A disk of its own; `using` removes it. */
export function mountDisk(folder: string, bytes = DISK_BYTES): Disposable {
  assert.equal(process.getuid?.(), 0, 'a disk can only be filled as root, who mounts a small one');
  mkdirSync(folder);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder]);
  return {
    [Symbol.dispose]() {
      execFileSync('umount', [folder]);
    },
  };
}

/** Fills the disk; the function that is returned makes room again. */
export function fill(disk: string): () => void {
  const filler = join(disk, 'filler');
  assert.throws(() => writeFileSync(filler, Buffer.alloc(DISK_BYTES)), { code: 'ENOSPC' });
  return () => rmSync(filler);
}
