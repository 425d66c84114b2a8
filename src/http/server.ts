/** The HTTP server: Fastify on node:http, with the limits and the error handling of both listeners. */

import fastify, { type FastifyInstance } from 'fastify';
import type { Log } from '../log.ts';
import { answerError } from './errors.ts';
import { createRequestId } from './headers.ts';
import { HEADER_BYTES_MAX, IDLE_MS_MAX, TIMEOUTS } from './limits.ts';
import { addBytesParser } from './protocol/body.ts';
import { CanonicalResponse } from './protocol/header-names.ts';
import { HeldBytes } from './protocol/held-bytes.ts';
import { escapeTarget } from './protocol/methods.ts';
import { answerParserError } from './protocol/parser-errors.ts';
import { createPipeliningServer } from './protocol/pipelining.ts';
import { createRequestClass } from './protocol/request-body.ts';
import type { RequestLog } from './request-log.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The service's log; Fastify's own logger is off, since it makes a child for each request. */
    petstoreLog: Log;
    heldBytes: HeldBytes;
  }
}

const HTTP_OPTIONS = {
  ServerResponse: CanonicalResponse,
  joinDuplicateHeaders: true,
  maxHeaderSize: HEADER_BYTES_MAX,
  requireHostHeader: false,
  ...TIMEOUTS,
};

/** Stands for the validators and serializers that Fastify would make by Ajv, whose load takes half as long as its own. */
function refuseSchema(): never {
  throw new Error('no route has a schema: its handler parses the request and writes the answer');
}

/** @param trustProxy the addresses and networks of the proxies whose X-Forwarded-For is believed. */
export function createServer(
  log: Log,
  requestLog: RequestLog,
  trustProxy: readonly string[] = [],
): FastifyInstance {
  const heldBytes = new HeldBytes();
  const app = fastify({
    serverFactory(handle) {
      const options = { ...HTTP_OPTIONS, IncomingMessage: createRequestClass(heldBytes) };
      return createPipeliningServer(options, heldBytes, handle).setTimeout(IDLE_MS_MAX);
    },
    clientErrorHandler: (error, socket) => answerParserError(error, socket, requestLog),
    genReqId: createRequestId,
    return503OnClosing: false,
    trustProxy: trustProxy.length > 0 && [...trustProxy],
    schemaController: {
      compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema },
    },
    // `escapeTarget` and the router may each make a character longer: `#` becomes `%2523`.
    routerOptions: { maxParamLength: 5 * HEADER_BYTES_MAX },
    rewriteUrl: ({ url = '/' }) => escapeTarget(url),
  });
  app.decorate('petstoreLog', log);
  app.decorate('heldBytes', heldBytes);
  app.decorateRequest('startedAt', 0);
  app.decorateRequest('client', '');
  app.decorateRequest('keyId', null);
  app.decorateRequest('isReadOnly', false);
  app.decorateRequest('acceptedAt', 0);
  app.decorateRequest('queue', null);
  app.decorateRequest('refusal', null);
  app.setErrorHandler(answerError);
  addBytesParser(app);
  return app;
}
