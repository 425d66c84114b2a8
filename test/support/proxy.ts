/** A proxy between a store and its PostgreSQL server: counts the connections, can delay what it passes, and fall silent. */

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { listen } from './socket.ts';

export type TestProxy = Awaited<ReturnType<typeof startProxy>>;

/** Passes all on after that time, however much comes meanwhile. */
function createDelay(ms: number): Transform {
  return new Transform({
    transform(chunk, _encoding, done) {
      setTimeout(() => this.push(chunk), ms);
      done();
    },
    flush(done) {
      setTimeout(done, ms);
    },
  });
}

/** Starts it; `await using` ends it and its connections. Each byte takes `delayMs` in either direction. */
export async function startProxy(address: string, delayMs = 0) {
  const target = new URL(address);
  const sockets = new Map<Socket, Socket>();
  let opened = 0;
  const server = createServer((client) => {
    opened += 1;
    const database = connect(Number(target.port), target.hostname);
    sockets.set(client, database);
    client.on('close', () => sockets.delete(client));
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      (delayMs > 0 ? from.pipe(createDelay(delayMs)) : from).pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    }
  });
  const through = new URL(address);
  through.port = String(await listen(server));
  return {
    /** That of the database, through the proxy. */
    address: through.href,
    /** The connections that were opened so far. */
    get opened() {
      return opened;
    },
    /** Those that are open. */
    get open() {
      return sockets.size;
    },
    /** From now on no byte passes on the connections that are open, and neither end learns of it. */
    silence() {
      for (const socket of sockets.keys()) socket.unpipe().pause();
    },
    speak() {
      for (const [client, database] of sockets) client.pipe(database);
    },
    /** Ends the connections that are open. The database learns of it by its next answer on one of them. */
    cut() {
      const databases = [...sockets.values()];
      const end = () => {
        for (const database of databases) database.destroy();
      };
      for (const [client, database] of sockets) {
        database.once('data', end);
        client.removeAllListeners('close').destroy();
      }
    },
    async [Symbol.asyncDispose]() {
      for (const socket of [...sockets].flat()) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
