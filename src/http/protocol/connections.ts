/** Bounds the open connections: at the bound, a connection without work is closed for a new one. */

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../../log.ts';
import { findLastResponse, isAnswered, isIdle } from './last-request.ts';
import { closeLingering } from './lingering-close.ts';
import { hasUnparsed } from './pipelining.ts';

/** The pause between two lines of the log. */
const LOG_MS = 1_000;

/** What the connections of a server are doing now. */
export interface ConnectionStatistics {
  readonly connections: number;
  /** Requests whose answers are not sent. */
  readonly requestsAtWork: number;
}

/**
 * Bounds the connections of a server to `connectionsMax`. For one more, the connection without work that was used
 * longest ago is closed. If all of them work, the new connection is closed.
 *
 * @returns a function that reads what the connections are doing.
 */
export function boundConnections(
  server: Server,
  log: Log,
  connectionsMax = Number.POSITIVE_INFINITY,
): () => ConnectionStatistics {
  /** In the order in which they were opened or got their last request. */
  const sockets = new Set<Socket>();
  const count = createCount(log, connectionsMax);

  server.on('connection', (socket) => {
    // `pipelining.ts` emits `connection` again when it gives a socket a new parser.
    if (sockets.has(socket)) return;
    if (sockets.size >= connectionsMax) {
      const oldest = sockets.values().find((each) => !isWorking(each));
      if (oldest === undefined) {
        count('refused');
        socket.destroy();
        return;
      }
      count('closed');
      sockets.delete(oldest);
      oldest.destroy();
    }
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.prependListener('request', ({ socket }) => {
    if (sockets.delete(socket)) sockets.add(socket);
  });
  replaceCloseMethods(server, sockets);
  return () => ({
    connections: sockets.size,
    requestsAtWork: [...sockets].filter((socket) => !isAnswered(socket)).length,
  });
}

/** Counts the connections that are closed or refused at the bound, and logs how many after LOG_MS. */
function createCount(log: Log, connectionsMax: number) {
  const counts = { closed: 0, refused: 0 };

  function report(): void {
    log.warn(
      { connectionsMax, ...counts },
      'too many connections: those without work are closed, then new ones',
    );
    counts.closed = 0;
    counts.refused = 0;
  }

  return (what: keyof typeof counts): void => {
    if (counts.closed + counts.refused === 0) setTimeout(report, LOG_MS).unref();
    counts[what] += 1;
  };
}

/** Node's own methods close a connection whose next request waits unparsed, and reset one whose request is not read yet. */
function replaceCloseMethods(server: Server, sockets: Iterable<Socket>): void {
  server.closeIdleConnections = () => {
    for (const socket of sockets) {
      if (socket.writable && isIdle(socket) && !hasUnparsed(socket)) closeLingering(socket);
    }
  };
  server.closeAllConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
}

/** Whether a whole request is at work that is not refused. A request above its rate limit is refused while it waits. */
function isWorking(socket: Socket): boolean {
  const response = findLastResponse(socket);
  if (response === undefined || response.writableEnded) return false;
  return response.req.complete && response.statusCode < 400;
}
