/** What Fastify never sees: errors of Node's HTTP parser, and methods that cannot be routed. They are answered on the socket, in the Error shape. */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { badRequest, PetstoreError } from '../../error.ts';
import { BROKEN_OFF, MALFORMED, toErrorBody } from '../error-answers.ts';
import { CONSTANT_HEADERS, createRequestId } from '../headers.ts';
import type { RequestLog } from '../request-log.ts';
import type { BodyRequest } from './body.ts';
import { closeLingering } from './lingering-close.ts';
import { STATUS_CODES } from './node-http.ts';
import { endAfterAnswer, ignoreUpgrade, isAnswered, LAST_RESPONSE } from './one-request.ts';
import { SERVED_METHODS } from './request-line.ts';

const KNOWN: Readonly<Record<string, PetstoreError>> = {
  HPE_HEADER_OVERFLOW: new PetstoreError('headers_too_large'),
  ERR_HTTP_REQUEST_TIMEOUT: new PetstoreError('request_timeout'),
  HPE_INVALID_EOF_STATE: BROKEN_OFF,
};

/** Routes the events that bypass Fastify to it, or answers them in the Error shape. */
export function handleServerEvents(server: Server, log: RequestLog): void {
  const asRequest = (request: IncomingMessage, response: ServerResponse) =>
    server.emit('request', request, response);
  // By default Node sends 100 Continue before the key is checked, and 417 without a body.
  server.on('checkContinue', (request, response) => {
    (request as BodyRequest).sendContinue = () => response.writeContinue();
    asRequest(request, response);
  });
  server.on('checkExpectation', asRequest);
  const refuse = (request: IncomingMessage, _stream: unknown, body: Buffer) => {
    const { method, headers, socket } = request;
    // The connection is ending: Node has just stopped the reading, which must go on.
    if (!socket.writable) socket.resume();
    else if (!isAnswered(socket)) endAfterAnswer(socket);
    else if ('upgrade' in headers) ignoreUpgrade(server, request, body);
    else sendError(socket, new PetstoreError('method_not_allowed', `${method} is not served`), log);
  };
  server.on('upgrade', refuse).on('connect', refuse);
}

/** Answers an error of the parser. It stops the reading at once, whatever is at work. */
export function answerParserError(cause: NodeJS.ErrnoException, socket: Socket, log: RequestLog) {
  const error = toPetstoreError(cause);
  const request = socket[LAST_RESPONSE]?.req as BodyRequest | undefined;
  const isAtWork = request !== undefined && !(request.complete && isAnswered(socket));
  if (!isAtWork) return sendError(socket, error, log);
  // The error is the answer to a request whose body breaks off. A whole request gets its own answer.
  if (!request.complete) request.refuse(error);
  endAfterAnswer(socket);
}

function toPetstoreError(error: NodeJS.ErrnoException): PetstoreError {
  const known = KNOWN[error.code ?? ''];
  if (known !== undefined) return known;
  // Only the parser gives a reason: without it, the client reset the connection.
  if (!('reason' in error)) return BROKEN_OFF;
  return badRequest(`${MALFORMED}: ${error.reason}`);
}

/** Sends the error now, and ends the connection, unless it is ending already. */
function sendError(socket: Socket, error: PetstoreError, log: RequestLog): void {
  if (!socket.writable) return;
  const body = toErrorBody(error);
  const { code, message: reason, status } = body;
  const text = JSON.stringify(body);
  const requestId = createRequestId();
  const headers = {
    ...CONSTANT_HEADERS,
    'X-Request-Id': requestId,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    ...(status === 405 && { Allow: SERVED_METHODS.join(', ') }),
    Date: new Date().toUTCString(),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`);
  const { remoteAddress: client = 'unknown' } = socket;
  log.write({ client, status, requestId, keyId: null, refusal: { code, reason } });
  closeLingering(socket);
}
