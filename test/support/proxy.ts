/** A proxy between a store and its PostgreSQL server: counts the connections, can delay or change what it passes, and fall silent. */

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { type Readable, Transform } from 'node:stream';
import { TLSSocket, type TLSSocketOptions } from 'node:tls';
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

/**
 * Starts it; `await using` ends it and its connections. Each byte takes `delayMs` in either direction. With a
 * certificate it has TLS, which it does not pass on.
 */
export async function startProxy(address: string, delayMs = 0, certificate?: TLSSocketOptions) {
  const target = new URL(address);
  const sockets = new Map<Socket, Socket>();
  const delay = (from: Readable) => (delayMs > 0 ? from.pipe(createDelay(delayMs)) : from);
  let opened = 0;
  const pass = (client: Socket) => {
    opened += 1;
    const database = connect(Number(target.port), target.hostname);
    sockets.set(client, database);
    client.on('close', () => sockets.delete(client));
    const change = new Transform({
      transform: (chunk, _encoding, done) => done(null, proxy.change(chunk)),
    });
    delay(client).pipe(database);
    delay(database.pipe(change)).pipe(client);
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    }
  };
  const server = createServer((socket) => {
    if (certificate === undefined) return pass(socket);
    // The first bytes ask for TLS.
    socket.once('data', () => {
      socket.write('S');
      pass(new TLSSocket(socket, { ...certificate, isServer: true }));
    });
  });
  const through = new URL(address);
  through.port = String(await listen(server));
  const proxy = {
    /** That of the database, through the proxy. */
    address: through.href,
    /** Of each chunk that the database sends. */
    change: (chunk: Buffer): Buffer => chunk,
    /** Passes later connections on to the database on another port. */
    leadTo(port: number) {
      target.port = String(port);
    },
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
  return proxy;
}
