/** One request of a connection is at work at a time; what its client sends behind it waits as bytes, unparsed. */

import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HeldBytes } from './held-bytes.ts';
import { findLastResponse, isAnswered, markStarted, onceAnswered } from './last-request.ts';
import { createServer } from './node-http.ts';

/** `socket.parser` of node:http: what it calls when the head of a request is complete. */
interface Parser {
  onIncoming: (
    request: IncomingMessage & { upgrade: boolean | null },
    keepAlive: boolean,
  ) => number;
}

/** What `onIncoming` returns for an upgrade: the parser stops behind the head. */
const STOP = 2;

/** How many requests are started in a turn of the event loop, and how many of those that waited. Node accepts one connection in a turn. */
const STARTED_MAX = 512;
const RESTARTED_MAX = 64;

/**
 * A server that starts a request when the answer before it on the connection is sent, and none behind an
 * answer that ends the connection. An upgrade is ignored.
 */
export function createPipeliningServer(
  options: ServerOptions,
  heldBytes: HeldBytes,
  start: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  let started = 0;
  const endTurn = () => {
    started = 0;
  };
  const server = createServer(options, (request, response) => {
    started += 1;
    if (started === 1) setImmediate(endTurn);
    markStarted(response);
    start(request, response);
  });
  const ready: (() => void)[] = [];
  let isRestarting = false;
  let isScheduled = false;
  const schedule = () => {
    if (!isScheduled && ready.length > 0) setImmediate(startSome);
    isScheduled = ready.length > 0;
  };
  const startSome = () => {
    isRestarting = true;
    for (const goOn of ready.splice(0, RESTARTED_MAX)) goOn();
    isRestarting = false;
    isScheduled = false;
    schedule();
  };
  // While some wait, a new one waits behind them.
  const mayStart = () => isRestarting || (ready.length === 0 && started < STARTED_MAX);
  server.on('connection', (socket) => stopUnless(mayStart, socket));
  server.on('upgrade', (request, stream, rest) => {
    const socket = stream as Socket;
    // Node has removed its own listeners. The one for 'readable' keeps the bytes that still come.
    if (!hasUnparsed(socket)) socket.on('readable', keepUnread).on('error', ignore);
    // A small part would keep all that was read with it.
    const bytes = rest.length < rest.buffer.byteLength / 4 ? Buffer.from(rest) : rest;
    heldBytes.hold(request, bytes.length, socket, () => socket.destroy());
    const goOn = () => {
      heldBytes.release(request);
      if (socket.writable) parseOn(server, socket, [formatHead(request), bytes]);
    };
    onceAnswered(socket, () => {
      ready.push(goOn);
      schedule();
    });
  });
  return server;
}

/** Whether a request of this connection waits. */
export function hasUnparsed(socket: Socket): boolean {
  return socket.listeners('readable').includes(keepUnread);
}

/** Only an upgrade stops Node's parser in the middle of what it has read, and returns the rest unparsed. */
function stopUnless(mayStart: () => boolean, socket: Socket): void {
  const { parser } = socket as Socket & { readonly parser: Parser };
  const { onIncoming } = parser;
  parser.onIncoming = (request, keepAlive) => {
    const isUpgrade = request.upgrade && request.method !== 'CONNECT';
    const isNext = isAnswered(socket) && socket.writable && mayStart();
    if (!isUpgrade && isNext) return onIncoming(request, keepAlive);
    request.upgrade = true;
    socket.pause();
    return STOP;
  };
}

/** Gives these bytes to a new parser, and then those that were not read yet. */
function parseOn(server: Server, socket: Socket, bytes: readonly Buffer[]): void {
  server.emit('connection', socket);
  for (const part of bytes) if (part.length > 0) socket.emit('data', part);
  const isStoppedAgain = socket.listenerCount('data') === 0;
  if (isStoppedAgain) return;
  socket.off('readable', keepUnread).off('error', ignore).resume();
  if (!socket.readableEnded) return;
  // The new parser did not see that the client has ended its side. A body without its end is refused by it.
  if (findLastResponse(socket)?.req.complete === false) socket.emit('end');
  else onceAnswered(socket, () => socket.end());
}

/** The head of a request as it was sent, but for the name of a field `Upgrade`, which would stop the parser again. */
function formatHead({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = String(rawHeaders[at]);
    head += `${/^upgrade$/i.test(name) ? 'X-Upgrade' : name}: ${rawHeaders[at + 1]}\r\n`;
  }
  return Buffer.from(`${head}\r\n`, 'latin1');
}

function keepUnread(): void {}
function ignore(): void {}
