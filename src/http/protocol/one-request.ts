/** One request of a connection is at work. What its client sends behind it is dropped. */

// The connection ends after the answer to the request at work. A client must be ready to send the requests again that
// came before this answer was sent (RFC 9112 section 9.3.2). So nothing has to be kept, and no bytes are counted.

import type { Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { closeLingering, stopReading } from './lingering-close.ts';
import { createServer, IncomingMessage, METHODS } from './node-http.ts';

/** Node's parser also takes methods of RTSP and HTTP/2, which Fastify cannot route. */
const ROUTED = new Set(METHODS);

const CONNECTION = Symbol('connection');

declare module 'node:net' {
  interface Socket {
    /** The answer to the last request, and whether the connection ends after this answer. */
    [CONNECTION]?: { readonly response: ServerResponse; isEnding: boolean };
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
    request.socket[CONNECTION] = { response, isEnding: false };
    start(request, response);
  });
}

/** Undefined before the first request. */
export function findLastResponse(socket: Socket): ServerResponse | undefined {
  return socket[CONNECTION]?.response;
}

/** Whether the last answer was sent to its end, or there was no request. */
export function isAnswered(socket: Socket): boolean {
  return findLastResponse(socket)?.destroyed !== false;
}

/** Drops what comes behind the request at work, and ends the connection after its answer. */
export function endAfterAnswer(socket: Socket): void {
  const last = socket[CONNECTION];
  if (last === undefined || isAnswered(socket)) {
    closeLingering(socket);
    return;
  }
  if (last.isEnding) return;
  last.isEnding = true;
  stopReading(socket);
  if (!last.response.headersSent) last.response.setHeader('Connection', 'close');
  last.response.once('close', () => closeLingering(socket));
}
