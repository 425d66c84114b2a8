/** The HTTP server: Fastify on node:http, and what each request and answer needs on both listeners. */

import { isIP } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import type { Log, Refusal, RequestLine } from '../log.ts';
import type { ServedStore } from '../store.ts';
import { answerError } from './errors.ts';
import { CanonicalResponse, createRequestId } from './headers.ts';
import { FairQueue, type Group } from './hooks/fair-queue.ts';
import { createFinishResponse } from './hooks/finish-response.ts';
import { rejectAmbiguousFraming } from './hooks/framing.ts';
import { HTTP_LIMITS } from './limits.ts';
import { addBytesParser, BodyRequest } from './protocol/body.ts';
import { boundConnections } from './protocol/connections.ts';
import { createOneRequestServer } from './protocol/one-request.ts';
import { answerParserError, handleServerEvents } from './protocol/parser-errors.ts';
import { escapeTarget } from './protocol/request-line.ts';
import { RequestLog } from './request-log.ts';
import { addFallbackRoutes, collectRoutes, type Routes } from './routes/fallback.ts';
import { addHealthRoutes } from './routes/health.ts';

/** What the hooks tell each other of a request. */
const REQUEST_FACTS = {
  /** When its headers were parsed, by `performance.now`. */
  startedAt: 0,
  client: '',
  /** The id of its key, a refused one too; null until it is known. */
  keyId: null as number | null,
  isReadOnly: false,
  /** When that key was accepted, by `performance.now`. */
  acceptedAt: Number.NEGATIVE_INFINITY,
  /** Its place in the fair queue, until its answer is made. */
  place: null as Group | null,
  /** For the log; null while it is not refused. */
  refusal: null as Refusal | null,
  /** Whether its connection is closed in place of the answer. */
  losesAnswer: false,
};

type RequestFacts = typeof REQUEST_FACTS;

declare module 'fastify' {
  interface FastifyRequest extends RequestFacts {}
  interface FastifyInstance {
    readonly queue: FairQueue;
    readConnections: () => { connections: number; requestsAtWork: number; waitingRequests: number };
  }
}

const TIMEOUT_CHECK_MS = 500;

const HTTP_OPTIONS = {
  ServerResponse: CanonicalResponse,
  joinDuplicateHeaders: true,
  maxHeaderSize: HTTP_LIMITS.HEADER_BYTES_MAX.value,
  requireHostHeader: false,
  // Node compares these two only once in TIMEOUT_CHECK_MS, so they are shorter by that, and the limits hold.
  headersTimeout: HTTP_LIMITS.HEADER_SECONDS_MAX.value * 1_000 - TIMEOUT_CHECK_MS,
  requestTimeout: HTTP_LIMITS.REQUEST_SECONDS_MAX.value * 1_000 - TIMEOUT_CHECK_MS,
  connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  keepAliveTimeout: HTTP_LIMITS.KEEP_ALIVE_MS_MAX.value,
};

/** Replaces the validators and serializers that Fastify would make by Ajv: to load Ajv takes half as long as Fastify. */
function refuseSchema(): never {
  throw new Error('no route has a schema: its handler parses the request and writes the answer');
}

export interface HttpServerOptions {
  readonly store: ServedStore;
  readonly log: Log;
  /** Counts every request that is answered. */
  readonly count?: ((line: RequestLine) => void) | undefined;
  /** Whether the service is stopping: then each connection ends with its answer, and `/readyz` is 503. */
  readonly isStopping: () => boolean;
  /** The addresses and networks of the proxies whose X-Forwarded-For is believed. */
  readonly trustProxy?: readonly string[] | undefined;
  /** The most open connections; by default any number. */
  readonly maxConnections?: number | undefined;
}

/** The application, ready to listen or to be injected; its `close` leaves the store open. */
export async function createHttpApp(
  options: HttpServerOptions,
  addRoutes: (app: FastifyInstance, routes: Routes) => void | Promise<void>,
): Promise<FastifyInstance> {
  const { store, log, count, isStopping, trustProxy = [], maxConnections = Infinity } = options;
  const requestLog = new RequestLog(log, count);
  const queue = new FairQueue(store.connectionsMax);
  const app = fastify({
    serverFactory: (handle) =>
      createOneRequestServer({ ...HTTP_OPTIONS, IncomingMessage: BodyRequest }, handle),
    clientErrorHandler: (error, socket) => answerParserError(error, socket, requestLog),
    genReqId: createRequestId,
    return503OnClosing: false,
    trustProxy: trustProxy.length > 0 && [...trustProxy],
    schemaController: {
      compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema },
    },
    // `escapeTarget` may make three characters of one: `#` becomes `%23`.
    routerOptions: { maxParamLength: 3 * HTTP_LIMITS.HEADER_BYTES_MAX.value },
    rewriteUrl: ({ url = '/' }) => escapeTarget(url),
  });
  app.server.timeout = HTTP_LIMITS.IDLE_MS_MAX.value;
  handleServerEvents(app.server, requestLog);
  for (const [name, value] of Object.entries(REQUEST_FACTS))
    app.decorateRequest<unknown>(name, value);
  app.addHook('onRequest', (request, _reply, done) => {
    request.startedAt = performance.now();
    const { ip, socket } = request;
    const { remoteAddress = 'unknown' } = socket;
    // A trusted proxy may forward any text.
    request.client = isIP(ip) === 0 ? remoteAddress : ip;
    done();
  });
  app.decorate('queue', queue);
  const readConnections = boundConnections(app.server, log, maxConnections);
  app.decorate('readConnections', () => ({ ...readConnections(), waitingRequests: queue.waiting }));
  app.setErrorHandler(answerError);
  addBytesParser(app);
  app.addHook('onRequest', rejectAmbiguousFraming);
  // `preHandler` follows the body: a slow body takes no place in the queue.
  app.addHook('preHandler', (request, _reply, done) => queue.enter(request, done));
  app.addHook('onSend', createFinishResponse(requestLog, queue, isStopping));
  app.addHook('onClose', async () => requestLog.flush());
  const routes = collectRoutes(app);
  await addRoutes(app, routes);
  addHealthRoutes(app, store, isStopping);
  addFallbackRoutes(app, routes);
  await app.ready();
  return app;
}
