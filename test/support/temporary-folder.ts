/** Folders for temporary files, each removed with all that is in it. */

import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = join(tmpdir(), 'petstore-');
/** A process that was just killed may still write for a moment. */
const REMOVAL = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 } as const;

export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

/** A new, empty folder; `await using` removes it. */
export async function createFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(PREFIX);
  return { path, [Symbol.asyncDispose]: () => rm(path, REMOVAL) };
}

const removedAtExit: string[] = [];
process.on('exit', () => {
  for (const path of removedAtExit) rmSync(path, REMOVAL);
});

/** The path of a new, empty folder that is removed when this process ends. */
export function createProcessFolder(): string {
  const path = mkdtempSync(PREFIX);
  removedAtExit.push(path);
  return path;
}
