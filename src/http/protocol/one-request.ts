/** One request of a connection is at work. What its client sends behind it is dropped. */

// The connection ends after the answer. A client must be ready to send the rest again (RFC 9112 section 9.3.2).

import type { IncomingMessage as Head, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { closeLingering, stopReading } from './lingering-close.ts';
import { createServer, IncomingMessage, METHODS } from './node-http.ts';

/** Node's parser also takes methods of RTSP and HTTP/2, which Fastify cannot route. */
const ROUTED = new Set(METHODS);
/** Since Node 26 its parser reads the body of an upgrade too: so it cannot be parsed again. */
const STOPS_AT_HEAD = Number.parseInt(process.versions.node, 10) < 26;

/** The answer to the last request of a socket; undefined before the first request. */
export const LAST_RESPONSE = Symbol('last response');

declare module 'node:net' {
  interface Socket {
    [LAST_RESPONSE]?: ServerResponse;
  }
}

/** Node's parser stops only behind the head of an upgrade: so a request that is not to be answered is one. */
export class StoppableRequest extends IncomingMessage {
  #stopsParser: boolean | undefined;

  /** True until it is decided, since Node asks `shouldUpgradeCallback` only about an upgrade. */
  get upgrade(): boolean {
    return this.#stopsParser ?? true;
  }
  /** Is set by Node: what its parser has found, or what `shouldUpgradeCallback` has just decided. */
  set upgrade(_value: unknown) {}

  decide(): boolean {
    const { socket, headers, method = '' } = this;
    const hasBody = 'content-length' in headers || 'transfer-encoding' in headers;
    const isParsedAgain = 'upgrade' in headers && (STOPS_AT_HEAD || !hasBody);
    const isServed = ROUTED.has(method) && !isParsedAgain;
    this.#stopsParser = !isAnswered(socket) || !socket.writable || !isServed;
    return this.#stopsParser;
  }
}

/** Emits `upgrade` for a request with Upgrade, behind another one, or of an unknown method. */
export function createOneRequestServer(
  options: ServerOptions<typeof StoppableRequest>,
  start: (request: StoppableRequest, response: ServerResponse) => void,
): Server<typeof StoppableRequest> {
  const shouldUpgradeCallback = (request: StoppableRequest) => request.decide();
  return createServer({ ...options, shouldUpgradeCallback }, (request, response) => {
    request.socket[LAST_RESPONSE] = response;
    // Node's parser loses a part of what comes behind an upgrade.
    if ('upgrade' in request.headers) response.setHeader('Connection', 'close');
    start(request, response);
  });
}

/** Lets Node parse a request again, without Upgrade: with it, Node reports no error of the body, nor of what is behind. */
export function ignoreUpgrade(server: Server, request: Head, body: Buffer): void {
  const { method, url, httpVersion, rawHeaders, socket } = request;
  let head = `${method} ${url} HTTP/${httpVersion}\r\nConnection: close\r\n`;
  for (const [index, name] of rawHeaders.entries()) {
    const isName = index % 2 === 0 && !/^(?:connection|upgrade)$/i.test(name);
    if (isName) head += `${name}: ${rawHeaders[index + 1]}\r\n`;
  }
  head += '\r\n';
  socket.unshift(Buffer.concat([Buffer.from(head, 'latin1'), body]));
  server.emit('connection', socket);
}

/** Whether the last answer was sent to its end, or there was no request. */
export function isAnswered(socket: Socket): boolean {
  return socket[LAST_RESPONSE]?.destroyed !== false;
}

/** Drops what comes behind the request at work, and ends the connection after its answer, unless it is ending already. */
export function endAfterAnswer(socket: Socket): void {
  if (!socket.writable) return;
  const response = socket[LAST_RESPONSE];
  if (response === undefined || isAnswered(socket)) {
    closeLingering(socket);
    return;
  }
  stopReading(socket);
  if (!response.headersSent) response.setHeader('Connection', 'close');
  response.once('close', () => closeLingering(socket));
}
