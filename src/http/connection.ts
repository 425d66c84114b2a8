/** Below the application: what the HTTP parser refuses also gets the Error shape (RFC 9112). */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { HookHandlerDoneFunction as Done, FastifyReply, FastifyRequest } from 'fastify';
import { PetstoreError } from '../error.ts';
import { toErrorBody } from './errors.ts';
import { CONSTANT_HEADERS, createRequestId } from './headers.ts';

/** The head of a request, its line included. */
export const HEADER_BYTES_MAX = 16 * 1024;

/** A request's head must be there after 10 s, all of it after 30 s. The clock is read every half second. */
export const TIMEOUTS = {
  headersTimeout: 9_500,
  requestTimeout: 29_500,
  connectionsCheckingInterval: 500,
} as const;

/** uri-host [ ":" port ] (RFC 9110 section 7.2), not empty. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+)(?::\d*)?$/;

const PARSER_ERRORS: Readonly<Record<string, PetstoreError>> = {
  HPE_HEADER_OVERFLOW: new PetstoreError(
    'headers_too_large',
    'the request line and headers must be at most 16 KiB',
  ),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new PetstoreError(
    'payload_too_large',
    'the chunk extensions must be at most 16 KiB',
  ),
  ERR_HTTP_REQUEST_TIMEOUT: new PetstoreError(
    'request_timeout',
    'the request must arrive within 30 s, its headers within 10 s',
  ),
};

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

/** The hook that asks for a body that waits for `100 Continue`: only now is it wanted. */
export async function continueBody(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (/^100-continue$/i.test(request.headers.expect ?? '')) reply.raw.writeContinue();
}

/**
 * Makes the server's events below `request` answer as the application does.
 *
 * @returns what ends the connections on which nothing was ever sent; Node 24 takes them for busy.
 */
export function attachConnection(server: Server): () => void {
  // Node would drop the fields above 2,000, and with them a second Host or key.
  server.maxHeadersCount = 0;
  const asRequest = (request: IncomingMessage, response: ServerResponse) =>
    server.emit('request', request, response);
  // Node would send 100 Continue before the key is checked, and 417 without a body.
  server.on('checkContinue', asRequest);
  server.on('checkExpectation', asRequest);
  server.on('connect', (_request, socket) => {
    answerLast(socket as Socket, new PetstoreError('method_not_allowed', 'CONNECT is not served'));
  });
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  // A response that waits behind another one has no socket yet; its request has.
  server.on('request', (request, response) => {
    LATEST_RESPONSE.set(request.socket, response);
  });
  return () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  };
}

const LATEST_RESPONSE = new WeakMap<Socket, ServerResponse>();

/** Answers what the parser refused, after the answers that this connection still waits for. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  const known = PARSER_ERRORS[error.code ?? ''];
  if (known === undefined && !error.code?.startsWith('HPE_')) {
    socket.destroy();
    return;
  }
  const refusal = known ?? new PetstoreError('bad_request', describe(error));
  const response = LATEST_RESPONSE.get(socket);
  if (response === undefined || response.req.complete) answerLast(socket, refusal);
  // Its body broke off after the answer: there is nothing more to say.
  else if (response.headersSent) socket.destroy();
  else if (response.socket === null) response.once('socket', () => answerRaw(socket, refusal));
  else answerRaw(socket, refusal);
}

/** Answers a request that Fastify never saw: the answers to those before it go first. */
function answerLast(socket: Socket, error: PetstoreError): void {
  const response = LATEST_RESPONSE.get(socket);
  if (response === undefined || response.writableFinished) answerRaw(socket, error);
  else response.once('close', () => answerRaw(socket, error));
}

function describe(error: Error): string {
  const reason = 'reason' in error ? `: ${error.reason}` : '';
  return `the request is not well-formed HTTP/1.1${reason}`;
}

function answerRaw(socket: Socket, error: PetstoreError): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = toErrorBody(error);
  const text = JSON.stringify(body);
  const headers = {
    ...CONSTANT_HEADERS,
    'X-Request-Id': createRequestId(),
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
}
