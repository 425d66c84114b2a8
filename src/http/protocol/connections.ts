/** The open connections: at most so many, and the one that is idle for longest makes room for a new one. */

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../../log.ts';
import { closeLingering } from './lingering-close.ts';
import { findLastResponse, findLastUse, isIdle, listAtWork } from './pipelining.ts';
import { isRefused } from './refuse-later.ts';

/** The pause between two lines of the log, and between two searches for connections that may be closed. */
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
  const sockets = new Set<Socket>();
  /** What may be closed, the first one last. */
  let candidates: Candidate[] = [];
  let searchedAt = Number.NEGATIVE_INFINITY;
  let closed = 0;
  let refused = 0;

  function report(): void {
    log.warn(
      { connectionsMax, closed, refused },
      'too many connections: idle and refused ones are closed, then new ones',
    );
    closed = 0;
    refused = 0;
    candidates = [];
  }

  function makeRoom(): boolean {
    if (closed + refused === 0) setTimeout(report, LOG_MS).unref();
    if (performance.now() - searchedAt >= SEARCH_MS) {
      searchedAt = performance.now();
      candidates = findCandidates(sockets);
    }
    let candidate = candidates.pop();
    while (candidate !== undefined && hasChanged(candidate)) candidate = candidates.pop();
    if (candidate === undefined) return false;
    sockets.delete(candidate.socket);
    candidate.socket.destroy();
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

/** A connection that may be closed, as it was when it was found. */
interface Candidate {
  readonly socket: Socket;
  readonly rank: number;
  readonly usedAt: number;
}

/** Those of the lowest rank last, and of one rank the one that was used first. */
function findCandidates(sockets: Iterable<Socket>): Candidate[] {
  return [...sockets]
    .map((socket) => ({ socket, rank: rank(socket), usedAt: findLastUse(socket) }))
    .filter((candidate) => candidate.rank < WORKING)
    .sort((a, b) => b.rank - a.rank || b.usedAt - a.usedAt);
}

function hasChanged({ socket, rank: before, usedAt }: Candidate): boolean {
  return socket.destroyed || rank(socket) !== before || findLastUse(socket) !== usedAt;
}

/** In the order in which they are closed; one that works is not. */
const [IDLE, RECEIVING, REFUSED, UNREAD, WORKING] = [0, 1, 2, 3, 4];

/**
 * One that is idle is closed first, then one whose next request is not received, then one whose requests are all refused, then one
 * whose answer is not read: nobody is to keep others out by heads without an end, by requests above a limit, or by not reading.
 */
function rank(socket: Socket): number {
  if (isIdle(socket)) return IDLE;
  if (findLastResponse(socket)?.writableFinished !== false) return RECEIVING;
  if (listAtWork(socket).every(isRefused)) return REFUSED;
  return socket.writableLength > 0 ? UNREAD : WORKING;
}
