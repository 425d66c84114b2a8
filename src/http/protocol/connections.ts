/** The open connections: at most so many, and the one that is idle for longest makes room for a new one. */

import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../../log.ts';
import { closeLingering } from './lingering-close.ts';
import { findLastResponse, isIdle, listAtWork } from './pipelining.ts';
import { isRefused } from './refuse-later.ts';

/** The pause between two lines of the log, and between two searches that find no idle connection. */
const LOG_MS = 1_000;
const SEARCH_MS = 50;

/** What the connections of a server are doing now. */
export interface ConnectionStatistics {
  readonly connections: number;
  /** Requests whose answers are not sent. */
  readonly requestsAtWork: number;
}

/**
 * Closes an idle connection when one more than `connectionsMax` comes, or else the new one.
 *
 * @returns what reads what they are doing.
 */
export function boundConnections(
  server: Server,
  log: Log,
  connectionsMax = Number.POSITIVE_INFINITY,
): () => ConnectionStatistics {
  /** In the order of their last request. */
  const sockets = new Set<Socket>();
  let searchedAt = 0;
  let closed = 0;
  let refused = 0;

  function report(): void {
    log.warn(
      { connectionsMax, closed, refused },
      'too many connections: idle and refused ones are closed, then new ones',
    );
    closed = 0;
    refused = 0;
  }

  function makeRoom(): boolean {
    if (closed + refused === 0) setTimeout(report, LOG_MS).unref();
    if (performance.now() - searchedAt < SEARCH_MS) return false;
    const socket = findOldest(sockets);
    if (socket === undefined) {
      searchedAt = performance.now();
      return false;
    }
    sockets.delete(socket);
    socket.destroy();
    closed += 1;
    return true;
  }

  server.on('connection', (socket) => {
    if (sockets.has(socket)) return;
    if (sockets.size >= connectionsMax && !makeRoom()) {
      refused += 1;
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage) => {
    if (sockets.delete(socket)) sockets.add(socket);
  });
  replaceCloseMethods(server, sockets);
  return () => ({
    connections: sockets.size,
    requestsAtWork: [...sockets].reduce((sum, socket) => sum + listAtWork(socket).length, 0),
  });
}

/** Node's own ones know no connection whose next request waits unparsed, and reset one whose request is about to be read. */
function replaceCloseMethods(server: Server, sockets: Iterable<Socket>): void {
  server.closeIdleConnections = () => {
    for (const socket of sockets) if (isIdle(socket)) closeLingering(socket);
  };
  server.closeAllConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
}

/**
 * One that is idle, else one whose next request is not received, else one whose requests are all refused, else one whose answer
 * is not read: nobody is to keep others out by heads without an end, by requests above a limit, or by not reading.
 */
function findOldest(sockets: Iterable<Socket>): Socket | undefined {
  let receiving: Socket | undefined;
  let refused: Socket | undefined;
  let unread: Socket | undefined;
  for (const socket of sockets) {
    if (isIdle(socket)) return socket;
    if (findLastResponse(socket)?.writableFinished !== false) receiving ??= socket;
    else if (listAtWork(socket).every(isRefused)) refused ??= socket;
    else if (socket.writableLength > 0) unread ??= socket;
  }
  return receiving ?? refused ?? unread;
}
