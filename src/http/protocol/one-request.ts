/** One request of a connection is at work. What its client sends behind it is dropped. */

// The connection ends after the answer to the request at work. A client must be ready to send the requests again that
// came before this answer was sent (RFC 9112 section 9.3.2). So nothing has to be kept, and no bytes are counted.

import type { Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { closeLingering, stopReading } from './lingering-close.ts';
import { createServer, IncomingMessage, METHODS } from './node-http.ts';

/** Node's parser also takes methods of RTSP and HTTP/2, which Fastify cannot route. */
const ROUTED = new Set(METHODS);

const LAST_RESPONSE = Symbol('last response');

declare module 'node:net' {
  interface Socket {
    /** The answer to the last request. */
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

  /** Is called by Node's parser at the end of the request, with null. */
  override push(part: Buffer | null): boolean {
    // Behind an upgrade the parser drops the rest of the packet, and reports no error. Node resumes the socket after
    // this call.
    if (part === null && 'upgrade' in this.headers) process.nextTick(endAfterAnswer, this.socket);
    return super.push(part);
  }

  decide(): boolean {
    const { socket, method = '' } = this;
    const isBehind = !isAnswered(socket) || !socket.writable;
    this.#stopsParser = isBehind || !ROUTED.has(method);
    return this.#stopsParser;
  }
}

/**
 * A server whose requests are StoppableRequests. It emits `upgrade` for a request behind another one, and for one with
 * a method that cannot be routed. An upgrade of the client is ignored.
 */
export function createOneRequestServer(
  options: ServerOptions<typeof StoppableRequest>,
  start: (request: StoppableRequest, response: ServerResponse) => void,
): Server<typeof StoppableRequest> {
  const stopping = {
    ...options,
    shouldUpgradeCallback: (request: StoppableRequest) => request.decide(),
  };
  return createServer(stopping, (request, response) => {
    request.socket[LAST_RESPONSE] = response;
    // Its answer may be sent before its end.
    if ('upgrade' in request.headers) response.setHeader('Connection', 'close');
    start(request, response);
  });
}

/** Undefined before the first request. */
export function findLastResponse(socket: Socket): ServerResponse | undefined {
  return socket[LAST_RESPONSE];
}

/** Whether the last answer was sent to its end, or there was no request. */
export function isAnswered(socket: Socket): boolean {
  return findLastResponse(socket)?.destroyed !== false;
}

/** Drops what comes behind the request at work, and ends the connection after its answer, unless it is ending already. */
export function endAfterAnswer(socket: Socket): void {
  if (!socket.writable) return;
  const response = findLastResponse(socket);
  if (response === undefined || isAnswered(socket)) {
    closeLingering(socket);
    return;
  }
  stopReading(socket);
  if (!response.headersSent) response.setHeader('Connection', 'close');
  response.once('close', () => closeLingering(socket));
}
