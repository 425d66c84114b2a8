/** The connections of a server: what each one does, and how many may be open. */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../../log.ts';
import { closeLingering } from './lingering-close.ts';

/** The pause between two lines of the log. */
const LOG_MS = 1_000;

const LAST = Symbol('last request');

declare module 'node:net' {
  interface Socket {
    /** Only one request of a connection is at work. `endsAt` is `bytesRead` of the socket at the end of the request. */
    [LAST]?: { readonly response: ServerResponse; endsAt: number };
  }
}

function markStarted(request: IncomingMessage, response: ServerResponse): void {
  const { socket, headers } = request;
  const last = { response, endsAt: socket.bytesRead };
  socket[LAST] = last;
  if ('content-length' in headers || 'transfer-encoding' in headers) {
    request.once('end', () => {
      last.endsAt = socket.bytesRead;
    });
  }
}

/** Undefined before the first request. */
export function findLastResponse(socket: Socket): ServerResponse | undefined {
  return socket[LAST]?.response;
}

/** Whether the last answer was sent to its end, or there was no request. */
export function isAnswered(socket: Socket): boolean {
  return socket[LAST]?.response.destroyed !== false;
}

/** Calls back when nothing is at work: the last answer is sent, or its connection is closed. */
export function onceAnswered(socket: Socket, next: () => void): void {
  if (isAnswered(socket)) next();
  else socket[LAST]?.response.once('close', next);
}

/** Whether no parser reads from it, since its next request waits unparsed. */
export function isStopped(socket: Socket): boolean {
  return socket.listenerCount('data') === 0;
}

/** Whether nothing is at work, and no byte of a new request has come. */
function isIdle(socket: Socket): boolean {
  const endsAt = socket[LAST]?.endsAt ?? 0;
  return isAnswered(socket) && !isStopped(socket) && socket.bytesRead === endsAt;
}

/** Whether a whole request is at work that is not refused. A request above its rate limit is refused while it waits. */
function isWorking(socket: Socket): boolean {
  const response = findLastResponse(socket);
  if (response === undefined || response.writableEnded) return false;
  return response.req.complete && response.statusCode < 400;
}

/**
 * Bounds the connections of a server to `connectionsMax`. For one more, the connection without work that was used
 * longest ago is closed. If all of them work, the new connection is closed.
 *
 * @returns a function that reads what the connections are doing.
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
    // `pipelining.ts` emits `connection` again when it gives a socket a new parser.
    if (sockets.has(socket)) return;
    if (sockets.size >= connectionsMax) makeRoom(socket);
    if (socket.destroyed) return;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // Node removes its own listeners when its parser stops. An error without a listener ends the process.
    socket.on('error', () => undefined);
    // Node calls this after the last answer. The client may still be sending its next requests.
    socket.destroySoon = () => closeLingering(socket);
  });
  server.prependListener('request', (request, response) => {
    markStarted(request, response);
    const { socket } = request;
    if (sockets.delete(socket)) sockets.add(socket);
  });
  replaceCloseMethods(server, sockets);
  return () => ({
    connections: sockets.size,
    /** Requests whose answers are not sent. */
    requestsAtWork: [...sockets].filter((socket) => !isAnswered(socket)).length,
  });
}

/** Node's own methods close a connection whose next request waits unparsed, and reset one whose request is not read yet. */
function replaceCloseMethods(server: Server, sockets: Iterable<Socket>): void {
  server.closeIdleConnections = () => {
    for (const socket of sockets) if (socket.writable && isIdle(socket)) closeLingering(socket);
  };
  server.closeAllConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
}
