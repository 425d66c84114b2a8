/** The connections of a server: how many may be open, and what they do. */

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../../log.ts';
import { useLingeringClose } from './lingering-close.ts';
import { isAnswered, LAST_RESPONSE } from './one-request.ts';

/** The pause between two lines of the log. */
const LOG_MS = 1_000;

/** Whether a whole request is at work that is not refused. A request above its rate limit is refused while it waits. */
function isWorking(socket: Socket): boolean {
  const response = socket[LAST_RESPONSE];
  if (response?.writableEnded !== false) return false;
  return response.req.complete && response.statusCode < 400;
}

/**
 * For a connection above the limit, the connection without work that was used longest ago is closed. If all have work,
 * the new connection is closed. Returns a function that reads what the connections do.
 */
export function boundConnections(server: Server, log: Log, connectionsMax: number) {
  /** In the order in which they were opened or got their last request. */
  const sockets = new Set<Socket>();
  let loggedAt = Number.NEGATIVE_INFINITY;

  function makeRoom(added: Socket): void {
    const closed = sockets.values().find((each) => !isWorking(each)) ?? added;
    sockets.delete(closed);
    closed.destroy();
    const now = performance.now();
    if (now - loggedAt < LOG_MS) return;
    loggedAt = now;
    log.warn('too many connections: some are closed', { connectionsMax });
  }

  server.on('connection', (socket) => {
    if (!sockets.has(socket) && sockets.size >= connectionsMax) makeRoom(socket);
    if (socket.destroyed) return;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // Node removes its own listener when its parser stops. An error without a listener ends the process.
    socket.on('error', () => undefined);
  });
  server.on('request', ({ socket }) => {
    if (sockets.delete(socket)) sockets.add(socket);
  });
  useLingeringClose(server, sockets, isAnswered);
  return () => ({
    connections: sockets.size,
    requestsAtWork: [...sockets].filter((socket) => !isAnswered(socket)).length,
  });
}
