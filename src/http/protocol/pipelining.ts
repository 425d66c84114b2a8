/** The requests of a connection: a few at a time are at work, what comes after them waits as bytes. */

import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AT_WORK_MAX } from '../limits.ts';
import { createServer } from './node-http.ts';

interface Pipeline {
  /** The responses that are not sent; they are sent, and so finish, in this order. */
  readonly atWork: ServerResponse[];
  /** The response to the last request that was started. */
  last: ServerResponse | undefined;
  /** What was received up to the end of the last request. */
  bytesRead: number;
  /** How often connections had been opened or got a request, when this one was or did last. */
  usedAt: number;
}

/** How often a connection was opened or got a request. */
let uses = 0;

const PIPELINE = Symbol('pipeline');

declare module 'node:http' {
  interface IncomingMessage {
    /** Whether the parser stopped behind its head. */
    upgrade: boolean | null;
  }
}

declare module 'node:net' {
  interface Socket {
    [PIPELINE]?: Pipeline;
  }
}

/** What Node's parser does with a request whose head is complete; `socket.parser` of node:http. */
interface Parser {
  onIncoming: (request: IncomingMessage, keepAlive: boolean) => number;
}

/** The answer of `onIncoming` that stops the parser behind the head, as for an upgrade: llhttp's `on_headers_complete`. */
const STOP = 2;

/** The pipeline of a connection that was opened, or got a request, just now. */
function markUsed(socket: Socket): Pipeline {
  uses += 1;
  socket[PIPELINE] ??= { atWork: [], last: undefined, bytesRead: 0, usedAt: uses };
  socket[PIPELINE].usedAt = uses;
  return socket[PIPELINE];
}

/** A number that is higher, the later this connection was opened or got its last request. */
export function findLastUse(socket: Socket): number {
  return socket[PIPELINE]?.usedAt ?? 0;
}

/**
 * A request that cannot start is given out as an upgrade: that is the one way to stop Node's parser in
 * the middle of what it has read, and to get the rest unparsed.
 */
function stopWhereItCannotStart(socket: Socket): void {
  markUsed(socket);
  const { parser } = socket as Socket & { readonly parser: Parser };
  const { onIncoming } = parser;
  parser.onIncoming = (request, keepAlive) => {
    const isUpgrade = request.upgrade && request.method !== 'CONNECT';
    if (!isUpgrade && canStart(socket)) return onIncoming(request, keepAlive);
    request.upgrade = true;
    return STOP;
  };
}

/**
 * A server that works on at most AT_WORK_MAX requests of a connection before their answers are sent,
 * and starts none while its unsent bytes are above the high-water mark of its socket. The next request
 * and all bytes behind it wait unparsed until those answers are sent. An upgrade is ignored.
 */
export function createPipeliningServer(
  options: ServerOptions,
  start: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const server = createServer(options, (request, response) => {
    const { socket } = request;
    const pipeline = markUsed(socket);
    pipeline.atWork.push(response);
    pipeline.last = response;
    pipeline.bytesRead = socket.bytesRead;
    if (hasBody(request)) {
      request.once('end', () => {
        pipeline.bytesRead = socket.bytesRead;
      });
    }
    start(request, response);
  });
  server.on('connection', stopWhereItCannotStart);
  server.on('upgrade', (request, stream, rest) => {
    const socket = stream as Socket;
    // Node has removed its own listeners.
    socket.on('timeout', socket.destroy).on('error', ignore);
    // The requests at work would resume the socket, whose bytes are lost while it has no parser.
    socket.resume = () => socket;
    const last = findLastResponse(socket);
    const goOn = () => parseOn(server, socket, [formatHead(request), rest]);
    if (last === undefined || last.destroyed) goOn();
    else last.once('close', goOn);
  });
  return server;
}

/** Gives these bytes to a new parser, and then those that were not read yet, unless they wait again. */
function parseOn(server: Server, socket: Socket, bytes: readonly Buffer[]): void {
  if (!socket.writable) return;
  server.emit('connection', socket);
  socket.off('timeout', socket.destroy).off('error', ignore);
  for (const part of bytes) if (part.length > 0) socket.emit('data', part);
  // Without a parser it waits again.
  if (socket.listenerCount('data') === 0) return;
  Reflect.deleteProperty(socket, 'resume');
  socket.resume();
  if (socket.readableEnded) endAfterAnswers(socket);
}

/** Ends a connection whose client ended its side while the socket had no parser, which would have ended it. */
function endAfterAnswers(socket: Socket): void {
  const last = findLastResponse(socket);
  if (last === undefined || last.destroyed) socket.end();
  else last.once('close', () => socket.end());
}

/** The response to the last request that was started on this connection. */
export function findLastResponse(socket: Socket): ServerResponse | undefined {
  return socket[PIPELINE]?.last;
}

/** The responses of this connection that are not sent, of requests that were started. */
export function listAtWork(socket: Socket): ServerResponse[] {
  return socket[PIPELINE]?.atWork.filter((response) => !response.writableFinished) ?? [];
}

/** Whether none of its requests is at work or being received. */
export function isIdle(socket: Socket): boolean {
  const { last, bytesRead = 0 } = socket[PIPELINE] ?? {};
  const isAnswered = last === undefined || (last.writableFinished && last.req.complete);
  return isAnswered && socket.bytesRead === bytesRead && socket.writable;
}

function canStart(socket: Socket): boolean {
  const atWork = socket[PIPELINE]?.atWork ?? [];
  while (atWork[0]?.writableFinished) atWork.shift();
  const before = atWork.at(-1);
  if (before === undefined) return socket.writable;
  if (atWork.length >= AT_WORK_MAX || socket.writableNeedDrain) return false;
  // The connection ends with that answer, so this request will have none (RFC 9112 section 9.6).
  return before.getHeader('connection') !== 'close';
}

/** The head of a request as it was sent, but without the fields of an upgrade. */
function formatHead({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!/^upgrade$/i.test(name)) head += `${name}: ${rawHeaders[at + 1]}\r\n`;
  }
  return Buffer.from(`${head}\r\n`, 'latin1');
}

function hasBody({ headers }: IncomingMessage): boolean {
  return 'content-length' in headers || 'transfer-encoding' in headers;
}

function ignore(): void {}
