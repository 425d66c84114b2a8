/** The engine on node:sqlite: opening, reads, and group commits by the writer. */

import { createStoreCounts, type StoreCounts } from '../../store.ts';
import { MEMORY_FILE } from '../address.ts';
import type { Engine, OpenOptions } from '../engine.ts';
import { createGroupCommit } from '../group-commit.ts';
import { toPurge } from '../purge.ts';
import { SqliteConnection } from './connection.ts';
import { explain, isDiskError, retryWhileBusy } from './errors.ts';
import { createFileCheck, prepareFile, removeNewFile } from './file.ts';
import { checkColumns, prepare } from './layout.ts';
import { createLongWork } from './long-work.ts';
import { createPetQueries, NOW, toInsert } from './pet-queries.ts';
import { createWriter, type Write, writeAll } from './writer.ts';

/** @throws PetstoreError `unavailable` when the file cannot be used as it is; it is unchanged then. */
export async function openSqlite(file: string, options: OpenOptions): Promise<Engine> {
  let isNew = false;
  let connection: SqliteConnection | undefined;
  try {
    isNew = file !== MEMORY_FILE && (await prepareFile(file, options.create ?? false));
    connection = new SqliteConnection(file, 0);
    return createEngine(connection, await prepare(connection, options));
  } catch (error) {
    connection?.close();
    if (isNew && isDiskError(error)) removeNewFile(file);
    throw explain(error, file);
  }
}

function createEngine(connection: SqliteConnection, foundLayout: number): Engine {
  const counts = createStoreCounts();
  const checkFiles = createFileCheck(connection);
  const read: Engine['read'] = async (sql, ...values) =>
    retryWhileBusy(connection.file, () => connection.run(sql, ...values));
  return {
    foundLayout,
    counts,
    newKeyId: 'null',
    toJsonFunction: 'json_quote',
    // There is one writer at a time.
    purge: toPurge(NOW, ''),
    read,
    petQueries: createPetQueries(read, () => connection.readCommitCounter(), counts),
    ...createWrites(connection, counts, checkFiles),
    ...createLongWork(connection, checkFiles),
  };
}

function createWrites(
  connection: SqliteConnection,
  counts: StoreCounts,
  checkFiles: () => void,
): Pick<Engine, 'write' | 'insertPet' | 'check'> & AsyncDisposable {
  const { file } = connection;
  // The writer has a connection of its own, which would not see a database in memory.
  const writer = file === MEMORY_FILE ? undefined : createWriter(file);

  const commits = createGroupCommit(async (writes: readonly Write[]) => {
    try {
      checkFiles();
      return writer ? await writer.commit(writes) : writeAll(connection, writes);
    } catch (error) {
      throw explain(error, file);
    } finally {
      // A later read must see what was written. Also after an error something may have been written.
      connection.countCommit();
    }
  }, counts);

  const write: Engine['write'] = (...statements) => commits.add(statements);

  return {
    write,
    async insertPet(row, request) {
      const [added] = await write(...toInsert(row, request));
      return added?.[0]?.[0] as bigint | undefined;
    },
    async check() {
      checkFiles();
      await retryWhileBusy(file, () => checkColumns(connection));
    },
    async [Symbol.asyncDispose]() {
      await commits.drain();
      await writer?.close();
      connection.close();
    },
  };
}
