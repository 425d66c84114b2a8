/** What Node's HTTP parser refuses, before Fastify sees a request, is answered in the Error shape too. */

import type { Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { PetstoreError } from '../../error.ts';
import { createError, DEFAULT_MESSAGES } from '../errors.ts';
import { findLastResponse } from './pipelining.ts';
import { sendError, sendErrorInOrder } from './raw-error.ts';

/** Answers an error of the parser, after the answers that are still due on this connection. */
export function answerParserError(
  parserError: NodeJS.ErrnoException,
  socket: Socket,
  log: FastifyBaseLogger,
): void {
  const error = findError(parserError);
  if (error === undefined) {
    socket.destroy();
    return;
  }
  const response = findLastResponse(socket);
  if (response === undefined || response.req.complete) sendErrorInOrder(socket, error, log);
  // The body of this request broke off after its answer was begun: a second answer would be wrong.
  else if (response.headersSent) socket.destroy();
  else if (response.socket === null) {
    response.once('socket', () => sendError(socket, error, log));
  } else sendError(socket, error, log);
}

/** The answer to an error of the parser; undefined when the connection itself is gone. */
function findError(parserError: NodeJS.ErrnoException): PetstoreError | undefined {
  switch (parserError.code) {
    case 'HPE_HEADER_OVERFLOW':
      return createError('headers_too_large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return createError('request_timeout');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new PetstoreError('payload_too_large', 'the chunk extensions must be at most 16 KiB');
  }
  if (!parserError.code?.startsWith('HPE_')) return undefined;
  const reason = 'reason' in parserError ? `: ${parserError.reason}` : '';
  return new PetstoreError('bad_request', `${DEFAULT_MESSAGES.bad_request}${reason}`);
}
