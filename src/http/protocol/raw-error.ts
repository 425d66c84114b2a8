/** An error answer written to the socket itself, for a request that has no reply of Fastify; the connection ends with it. */

import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import type { PetstoreError } from '../../error.ts';
import { toErrorBody } from '../errors.ts';
import { CONSTANT_HEADERS, createRequestId } from '../headers.ts';
import { SERVED_METHODS } from './methods.ts';
import { findLastResponse } from './pipelining.ts';

/** Sends the error once the answers to the requests before it are sent. */
export function sendErrorInOrder(
  socket: Socket,
  error: PetstoreError,
  log: FastifyBaseLogger,
): void {
  const response = findLastResponse(socket);
  if (response === undefined || response.writableFinished) sendError(socket, error, log);
  else response.once('close', () => sendError(socket, error, log));
}

/** Sends the error now. */
export function sendError(socket: Socket, error: PetstoreError, log: FastifyBaseLogger): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = toErrorBody(error);
  const text = JSON.stringify(body);
  const requestId = createRequestId();
  const headers = {
    ...CONSTANT_HEADERS,
    'X-Request-Id': requestId,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    ...(body.status === 405 && { Allow: SERVED_METHODS.join(', ') }),
    Date: new Date().toUTCString(),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${body.status} ${STATUS_CODES[body.status]}\r\n${lines.join('')}\r\n${text}`,
    () => socket.destroySoon(),
  );
  log.info({ status: body.status, requestId, reason: error.message });
}
