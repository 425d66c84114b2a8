/** The files of a database as they were when it was opened: SQLite keeps writing to one that was removed, and those writes can be lost. */

import { statSync } from 'node:fs';
import { PetstoreError } from '../../error.ts';
import type { SqliteConnection } from './connection.ts';

/** How often the files are looked at. */
const INTERVAL_MS = 1_000;

/**
 * A function that throws PetstoreError `unavailable` when the file or its -wal, which stays the same
 * file while a connection is open, was removed or replaced. A database in memory has no files.
 */
export function createFileCheck(connection: SqliteConnection, file: string): () => void {
  const location = connection.location();
  if (location === null) return () => undefined;
  // SQLite follows a link to the database, and keeps the -wal beside the database.
  const remedies = {
    [file]: 'stop the service and put it back',
    [`${location}-wal`]: 'stop the service by SIGTERM, which saves its pets, and start it again',
  };
  const files = Object.entries(remedies).map(([path, remedy]) => {
    return { path, remedy, identity: findIdentity(path) };
  });
  let checkedAt = Number.NEGATIVE_INFINITY;

  return () => {
    const now = performance.now();
    if (now - checkedAt < INTERVAL_MS) return;
    for (const { path, remedy, identity } of files) {
      if (findIdentity(path) === identity) continue;
      throw new PetstoreError(
        'unavailable',
        `the file ${path} of the database was removed or replaced: ${remedy}`,
      );
    }
    checkedAt = now;
  };
}

/** What distinguishes this file from any other of the same name; undefined when there is none. */
function findIdentity(file: string): string | undefined {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}
