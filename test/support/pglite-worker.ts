/** A thread with PGlite behind the wire protocol; all its clients share one session. */

import { type AddressInfo, createServer, type Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';

const SSL_REQUEST = 80877103;
const CANCEL_REQUEST = 80877102;

interface Message {
  /** A letter of the protocol; empty for those that open a connection. */
  readonly type: string;
  readonly bytes: Buffer;
}

const db = await PGlite.create();
const takeTurn = createTurns();
const server = createServer({ noDelay: true }, (socket) => {
  // A client that is gone, while its answer is written.
  socket.on('error', () => {});
  serve(socket).catch(() => socket.destroy());
});
server.listen(0, '127.0.0.1', () => {
  parentPort?.postMessage((server.address() as AddressInfo).port);
});

/** A queue: the holder of the session releases it by the function that it got. */
function createTurns(): () => Promise<() => void> {
  let last = Promise.resolve();
  return async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = last;
    last = promise;
    await before;
    return resolve;
  };
}

/**
 * A client has the session from the first message up to Sync, or to the end of its transaction:
 * unnamed statements, and the error that skips all until Sync, are the session's.
 */
async function serve(socket: Socket): Promise<void> {
  const statements = new Set<string>();
  let schema = '';
  let endTurn: (() => void) | undefined;
  try {
    for await (const batch of readBatches(socket)) {
      const [first] = batch;
      if (first?.type === '') schema = readDatabase(first.bytes);
      if (endTurn === undefined) {
        endTurn = await takeTurn();
        await db.exec(`CREATE SCHEMA IF NOT EXISTS "${schema}"; SET search_path TO "${schema}"`);
      }
      for (const message of batch) {
        if (message.type === 'P') statements.add(readStatementName(message.bytes));
        socket.write(await db.execProtocolRaw(message.bytes, { syncToFs: false }));
      }
      if (!db.isInTransaction()) {
        endTurn();
        endTurn = undefined;
      }
    }
  } finally {
    endTurn ??= await takeTurn();
    await forget(statements).finally(endTurn);
  }
}

/** Does what the end of a session would do: rolls back, and drops the prepared statements. */
async function forget(statements: ReadonlySet<string>): Promise<void> {
  await db.exec('ROLLBACK');
  const { rows } = await db.query<{ name: string }>(
    'SELECT name FROM pg_prepared_statements WHERE name = ANY($1)',
    [[...statements]],
  );
  for (const { name } of rows) await db.exec(`DEALLOCATE "${name}"`);
}

/** Messages that must not be separated: up to Sync, or one that is answered by itself. */
async function* readBatches(socket: Socket): AsyncGenerator<Message[]> {
  let batch: Message[] = [];
  for await (const message of readMessages(socket)) {
    if (message.type === 'X') return;
    batch.push(message);
    if (['', 'Q', 'S'].includes(message.type)) {
      yield batch;
      batch = [];
    }
  }
}

async function* readMessages(socket: Socket): AsyncGenerator<Message> {
  let rest = Buffer.alloc(0);
  let isOpen = false;
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const start = isOpen ? 1 : 0;
      const size = rest.length < start + 4 ? Infinity : start + rest.readInt32BE(start);
      if (rest.length < size) break;
      const bytes = rest.subarray(0, size);
      rest = rest.subarray(size);
      const code = isOpen ? 0 : bytes.readInt32BE(4);
      if (code === CANCEL_REQUEST) return;
      if (code === SSL_REQUEST) {
        socket.write('N');
        continue;
      }
      yield { type: isOpen ? bytes.toString('latin1', 0, 1) : '', bytes };
      isOpen = true;
    }
  }
}

/** The database that a startup message names: pairs of words, each with a zero after it. */
function readDatabase(startup: Buffer): string {
  const words = startup.toString('utf8', 8).split('\0');
  return words[words.indexOf('database') + 1] ?? '';
}

function readStatementName(parse: Buffer): string {
  return parse.toString('utf8', 5, parse.indexOf(0, 5));
}
