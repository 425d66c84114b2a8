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

/** A disk of exFAT, which has neither hard links nor modes; `using` removes it. */
export function mountExfat(folder: string): Disposable {
  const image = `${folder}.img`;
  mkdirSync(folder);
  execFileSync('truncate', ['-s', '64M', image]);
  execFileSync('mkfs.exfat', [image]);
  execFileSync('mount', ['-t', 'exfat-fuse', '-o', 'loop', image, folder]);
  return { [Symbol.dispose]: () => execFileSync('umount', [folder]) };
}

/** Fills the disk; the function that is returned makes room again. */
export function fill(disk: string): () => void {
  const filler = join(disk, 'filler');
  assert.throws(() => writeFileSync(filler, Buffer.alloc(DISK_BYTES)), { code: 'ENOSPC' });
  return () => rmSync(filler);
}

/** A disk of ext4 in a file, which {@link failDisk} makes fail; `using` removes it. */
export function mountFailingDisk(folder: string): Disposable {
  const below = `${folder}-below`;
  const medium = mountDisk(below);
  const image = join(below, 'image');
  execFileSync('truncate', ['--size=32M', image]);
  execFileSync('mkfs.ext4', ['-q', '-E', 'lazy_itable_init=0', image]);
  mkdirSync(folder);
  execFileSync('mount', ['-o', 'loop,errors=remount-ro', image, folder]);
  return {
    [Symbol.dispose]() {
      execFileSync('umount', [folder]);
      medium[Symbol.dispose]();
    },
  };
}

/** From now on, most writes to the disk fail, since its file cannot grow. Then the kernel makes the disk read-only. */
export function failDisk(folder: string): () => void {
  return fill(`${folder}-below`);
}
