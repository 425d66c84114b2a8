/** The last request of each connection; one request of a connection is at work at a time. */

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const LAST = Symbol('last request');

interface LastRequest {
  readonly response: ServerResponse;
  /** The value of `socket.bytesRead` at the end of the request. */
  bytesRead: number;
}

declare module 'node:net' {
  interface Socket {
    [LAST]?: LastRequest;
  }
}

/** To be called when a request is started. */
export function markStarted(response: ServerResponse): void {
  const {
    req: request,
    req: { socket, headers },
  } = response;
  const last = { response, bytesRead: socket.bytesRead };
  socket[LAST] = last;
  if ('content-length' in headers || 'transfer-encoding' in headers) {
    request.once('end', () => {
      last.bytesRead = socket.bytesRead;
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

/** Whether nothing is at work, and no byte of a new request has come. */
export function isIdle(socket: Socket): boolean {
  return isAnswered(socket) && socket.bytesRead === (socket[LAST]?.bytesRead ?? 0);
}

/** Calls back when nothing is at work: the last answer is sent, or its connection is closed. */
export function onceAnswered(socket: Socket, next: () => void): void {
  if (isAnswered(socket)) next();
  else socket[LAST]?.response.once('close', next);
}
