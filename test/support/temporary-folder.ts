/** Folders for temporary files, each removed with all that is in it. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A process that was just killed may still write for a moment. */
const REMOVAL = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 } as const;

const removedAtExit: string[] = [];
process.on('exit', () => {
  for (const path of removedAtExit) rmSync(path, REMOVAL);
});

/** The path of a new, empty folder that is removed when this process ends. */
export function createProcessFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'petstore-'));
  removedAtExit.push(path);
  return path;
}
