/** One request of a connection is at work. What its client sends behind it is dropped. */

// The connection ends after the answer to the request at work. A client must be ready to send again what it sent before
// this answer (RFC 9112 section 9.3.2). So nothing has to be kept, and no bytes are counted.

import type { Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { closeLingering, stopReading } from './lingering-close.ts';
import { createServer, IncomingMessage, METHODS } from './node-http.ts';

/** Node's parser also takes methods of RTSP and HTTP/2, which Fastify cannot route. */
const ROUTED = new Set(METHODS);

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

  /** Is called by Node's parser at the end of the request, with null. */
  override push(part: Buffer | null): boolean {
    // Behind an upgrade the parser drops the rest of the packet without an error. Node resumes the socket after this call.
    if (part === null && 'upgrade' in this.headers) process.nextTick(endAfterAnswer, this.socket);
    return super.push(part);
  }

  decide(): boolean {
    const { socket, method = '' } = this;
    this.#stopsParser = !isAnswered(socket) || !socket.writable || !ROUTED.has(method);
    return this.#stopsParser;
  }
}

/** Emits `upgrade` for a request behind another one, or of an unknown method. An upgrade of the client is ignored. */
export function createOneRequestServer(
  options: ServerOptions<typeof StoppableRequest>,
  start: (request: StoppableRequest, response: ServerResponse) => void,
): Server<typeof StoppableRequest> {
  const shouldUpgradeCallback = (request: StoppableRequest) => request.decide();
  return createServer({ ...options, shouldUpgradeCallback }, (request, response) => {
    request.socket[LAST_RESPONSE] = response;
    // Its answer may be sent before its end.
    if ('upgrade' in request.headers) response.setHeader('Connection', 'close');
    start(request, response);
  });
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
