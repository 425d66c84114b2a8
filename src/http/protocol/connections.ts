/** The connections of a server: how many may be open, what they do, and that all of them end by a lingering close. */

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../../log.ts';
import { closeLingering } from './lingering-close.ts';
import { isAnswered, LAST_RESPONSE } from './one-request.ts';

/** Whether no whole request is at work, or a refused one. A request above its rate limit is refused while it waits. */
const isIdle = ({ [LAST_RESPONSE]: last }: Socket): boolean =>
  last?.writableEnded !== false || !last.req.complete || last.statusCode >= 400;

/** Finds the last connection of the longest line of waiting requests, unless as many of the open ones have none. */
type GiveWay = (open: number) => Socket | undefined;

/** For a new connection above the limit, `giveWay` or the idle one used longest ago is closed. Returns what counts them. */
export function boundConnections(server: Server, log: Log, max: number, giveWay: GiveWay) {
  /** In the order in which they were opened or got their last request. */
  const sockets = new Set<Socket>();
  let closedConnections = 0;
  let loggedAt = -Infinity;

  function makeRoom(added: Socket): void {
    const closed = giveWay(sockets.size) ?? sockets.values().find(isIdle) ?? added;
    sockets.delete(closed);
    closed.destroy();
    closedConnections += 1;
    if (performance.now() - loggedAt < 1_000) return;
    loggedAt = performance.now();
    log.warn('too many connections: some are closed', { connectionsMax: max });
  }

  server.on('connection', (socket) => {
    if (!sockets.has(socket) && sockets.size >= max) makeRoom(socket);
    if (socket.destroyed) return;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // Node removes its own listener when its parser stops. An error without a listener ends the process.
    socket.on('error', () => undefined);
    // Node calls this after an answer with `Connection: close`.
    socket.destroySoon = () => closeLingering(socket);
  });
  server.on('request', ({ socket }) => {
    if (sockets.delete(socket)) sockets.add(socket);
  });
  replaceMethods(server, sockets);
  return () => ({
    connections: sockets.size,
    requestsAtWork: [...sockets].filter((socket) => !isAnswered(socket)).length,
    closedConnections,
  });
}

function replaceMethods(server: Server, sockets: Iterable<Socket>): void {
  Object.assign(server, {
    // Otherwise a client that ends its side after its request would get no answer (RFC 9112 section 9.6).
    httpAllowHalfOpen: true,
    // Node's own methods would cut off an answer that the kernel has not taken yet.
    closeIdleConnections() {
      for (const socket of sockets) if (isAnswered(socket)) closeLingering(socket);
    },
    closeAllConnections() {
      for (const socket of sockets) socket.destroy();
    },
  });
}
