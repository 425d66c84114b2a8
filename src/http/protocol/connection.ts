/** Below the application: what the HTTP parser refuses also gets the Error shape (RFC 9112). */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type {
  HookHandlerDoneFunction as Done,
  FastifyBaseLogger,
  FastifyReply,
  FastifyRequest,
} from 'fastify';
import { PetstoreError } from '../../error.ts';
import { toErrorBody } from '../errors.ts';
import { CONSTANT_HEADERS, createRequestId } from '../headers.ts';
import { PIPELINED_MAX } from '../limits.ts';
import { MESSAGES, refuse } from '../refusals.ts';

/** uri-host [ ":" port ] (RFC 9110 section 7.2), not empty. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+)(?::\d*)?$/;

/**
 * The hook that refuses what Node's parser lets pass and RFC 9112 does not: sections 3.2 (Host) and
 * 6.1 (Transfer-Encoding). Repeated fields arrive joined by a comma.
 */
export function checkFraming(request: FastifyRequest, reply: FastifyReply, done: Done): void {
  const { httpVersionMinor } = request.raw;
  const { host, 'transfer-encoding': coding } = request.headers;
  if (host === undefined ? httpVersionMinor !== 0 : !HOST.test(host)) {
    reply.header('connection', 'close');
    throw new PetstoreError('bad_request', 'Host must be given once, as host or host:port');
  }
  if (coding !== undefined && (coding !== 'chunked' || httpVersionMinor === 0)) {
    reply.header('connection', 'close');
    throw new PetstoreError(
      'bad_request',
      'Transfer-Encoding must be chunked, given once and in HTTP/1.1',
    );
  }
  done();
}

/** What is known of a connection, in a property of its socket. */
interface Connection {
  latest: ServerResponse;
  /** Answers that were begun while one before them was not out. */
  waiting: number;
}

const CONNECTION = Symbol('connection');

declare module 'node:net' {
  interface Socket {
    [CONNECTION]?: Connection;
  }
}

/**
 * The hook that notes each answer of a connection, and ends one on which too many wait. Node parses
 * all that it reads at once, so a client that sends and never reads could otherwise fill the memory.
 */
export function noteAnswer(request: FastifyRequest, reply: FastifyReply, done: Done): void {
  const { socket } = request.raw;
  const response = reply.raw;
  socket[CONNECTION] ??= { latest: response, waiting: 0 };
  const connection = socket[CONNECTION];
  const { latest } = connection;
  connection.latest = response;
  if (latest !== response && !latest.writableFinished) {
    connection.waiting += 1;
    response.once('finish', () => {
      connection.waiting -= 1;
    });
  }
  if (connection.waiting >= PIPELINED_MAX) socket.destroy();
  else done();
}

/** The hook that asks for a body that waits for `100 Continue`: only now is it wanted. */
export function continueBody(
  request: FastifyRequest,
  reply: FastifyReply,
  _body: unknown,
  done: Done,
): void {
  const isWaiting = /^100-continue$/i.test(request.headers.expect ?? '');
  // An HTTP/1.0 client does not know that answer (RFC 9110 section 10.1.1).
  if (isWaiting && request.raw.httpVersionMinor > 0) reply.raw.writeContinue();
  done();
}

/**
 * Makes the server's events below `request` answer as the application does.
 *
 * @returns what ends the connections on which nothing was ever sent; Node 24 takes them for busy.
 */
export function attachConnection(server: Server, log: FastifyBaseLogger): () => void {
  // Node would drop the fields above 2,000, and with them a second Host or key.
  server.maxHeadersCount = 0;
  const asRequest = (request: IncomingMessage, response: ServerResponse) =>
    server.emit('request', request, response);
  // Node would send 100 Continue before the key is checked, and 417 without a body.
  server.on('checkContinue', asRequest);
  server.on('checkExpectation', asRequest);
  server.on('connect', (_request, stream) => {
    const socket = stream as Socket;
    // Node has let go of this socket: an error that nobody hears would end the process.
    socket.on('error', () => socket.destroy());
    answerLast(socket, new PetstoreError('method_not_allowed', 'CONNECT is not served'), log);
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return () => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
}

/** Answers what the parser refused, after the answers that this connection still waits for. */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  log: FastifyBaseLogger,
): void {
  const refusal = findRefusal(error);
  if (refusal === undefined) {
    socket.destroy();
    return;
  }
  const response = socket[CONNECTION]?.latest;
  if (response === undefined || response.req.complete) answerLast(socket, refusal, log);
  // Its body broke off after the answer: there is nothing more to say.
  else if (response.headersSent) socket.destroy();
  else if (response.socket === null) {
    response.once('socket', () => answerRaw(socket, refusal, log));
  } else answerRaw(socket, refusal, log);
}

/** What an error of the parser refuses; undefined when the connection itself is gone. */
function findRefusal(error: NodeJS.ErrnoException): PetstoreError | undefined {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return refuse('headers_too_large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return refuse('request_timeout');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new PetstoreError('payload_too_large', 'the chunk extensions must be at most 16 KiB');
  }
  if (!error.code?.startsWith('HPE_')) return undefined;
  const reason = 'reason' in error ? `: ${error.reason}` : '';
  return new PetstoreError('bad_request', `${MESSAGES.bad_request}${reason}`);
}

/** Answers a request that Fastify never saw: the answers to those before it go first. */
function answerLast(socket: Socket, error: PetstoreError, log: FastifyBaseLogger): void {
  const response = socket[CONNECTION]?.latest;
  if (response === undefined || response.writableFinished) answerRaw(socket, error, log);
  else response.once('close', () => answerRaw(socket, error, log));
}

function answerRaw(socket: Socket, error: PetstoreError, log: FastifyBaseLogger): void {
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
    ...(body.status === 405 && { Allow: 'GET, HEAD, POST, OPTIONS' }),
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
