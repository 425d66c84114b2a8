/** The events of node:http's server that would bypass the application: Expect, CONNECT. */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { PetstoreError } from '../../error.ts';
import { HEADER_FIELDS_MAX } from '../limits.ts';
import type { RequestLog } from '../request-log.ts';
import { sendErrorInOrder } from './parser-errors.ts';

/** Routes the server's events to the application or answers them in the Error shape. */
export function handleServerEvents(server: Server, log: RequestLog): void {
  // Node refuses or, in some versions, drops the fields above this number; `rejectAmbiguousFraming` refuses the last one.
  server.maxHeadersCount = HEADER_FIELDS_MAX + 1;
  const asRequest = (request: IncomingMessage, response: ServerResponse) =>
    server.emit('request', request, response);
  // By default Node sends 100 Continue before the key is checked, and 417 without a body.
  server.on('checkContinue', asRequest);
  server.on('checkExpectation', asRequest);
  server.on('connect', (_request, stream) => {
    const socket = stream as Socket;
    // Node has removed its listeners from this socket: an error without a listener ends the process.
    socket.on('error', () => undefined);
    sendErrorInOrder(socket, new PetstoreError('method_not_allowed', 'CONNECT is not served'), log);
  });
}
