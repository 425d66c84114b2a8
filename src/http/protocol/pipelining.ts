/** One request of a connection is at work at a time. What its client sends behind it waits as bytes. */

// Node would parse all requests that a client sends: 64 KB of small requests become objects of many megabytes.
// Node stops its parser only at a request that asks for an upgrade. So a request that must wait is marked as an
// upgrade. Node then leaves the socket to us, with the bytes behind the head of this request. When the answer
// before it is sent, a new parser gets the head, written again, and these bytes.

import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LIMITS } from '../limits.ts';
import { findLastResponse, isAnswered, isStopped, onceAnswered } from './connections.ts';
import type { HeldBytes } from './held-bytes.ts';
import { createServer } from './node-http.ts';
import { Turns } from './turns.ts';

/** `socket.parser` of node:http: what it calls when the head of a request is complete. */
interface Parser {
  onIncoming: (
    request: IncomingMessage & { upgrade: boolean | null },
    keepAlive: boolean,
  ) => number;
}

/** What `onIncoming` returns for an upgrade: the parser stops behind the head. */
const STOP = 2;

/**
 * A server that starts a request when the answer before it on the connection is sent, and none behind an
 * answer that ends the connection. An upgrade is ignored.
 */
export function createPipeliningServer(
  options: ServerOptions,
  heldBytes: HeldBytes,
  start: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const turns = new Turns();
  const server = createServer(options, (request, response) => {
    turns.countStarted();
    start(request, response);
  });
  server.on('connection', (socket) => stopUnlessNext(turns, socket));
  server.on('upgrade', (request, stream, rest) => {
    const socket = stream as Socket;
    // A small part would keep all that was read with it.
    const isSmall = rest.length < rest.buffer.byteLength / 4;
    let bytes: Buffer | undefined = isSmall ? Buffer.from(rest) : rest;
    heldBytes.hold(request, bytes.length, socket, () => {
      bytes = undefined;
    });
    const isBehind = !isAnswered(socket);
    const goOn = () => {
      heldBytes.release(request);
      if (bytes === undefined) endUnread(socket);
      else if (socket.writable) parseOn(server, socket, [formatHead(request), bytes]);
    };
    onceAnswered(socket, () => turns.wait(goOn, isBehind));
  });
  return server;
}

/** Only an upgrade stops Node's parser in the middle of what it has read, and returns the rest unparsed. */
function stopUnlessNext(turns: Turns, socket: Socket): void {
  const { parser } = socket as Socket & { readonly parser: Parser };
  const { onIncoming } = parser;
  parser.onIncoming = (request, keepAlive) => {
    const isUpgrade = request.upgrade && request.method !== 'CONNECT';
    const isNext = isAnswered(socket) && socket.writable && turns.mayStart;
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
  if (isStopped(socket)) return;
  socket.resume();
  if (!socket.readableEnded) return;
  // The new parser did not see that the client has ended its side. A body without its end is refused by it.
  if (findLastResponse(socket)?.req.complete === false) socket.emit('end');
  else onceAnswered(socket, () => socket.end());
}

/** Ends the answers, and leaves the connection open without reading it: else the client would connect again at once. */
function endUnread(socket: Socket): void {
  socket.setTimeout(LIMITS.IDLE_MS_MAX, () => socket.destroy()).end();
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
