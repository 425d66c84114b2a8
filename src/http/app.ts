/** The HTTP service: everything that happens to a request, in order. What the operations do is in pets.ts. */

import fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { Environment } from '../api-key.ts';
import { PetstoreError } from '../error.ts';
import type { Store } from '../store.ts';
import { answerError } from './errors.ts';
import { CONSTANT_HEADERS, createRequestId } from './headers.ts';
import { createAuthenticate } from './hooks/authenticate.ts';
import { createCors } from './hooks/cors.ts';
import { HEADER_BYTES_MAX, IDLE_MS_MAX, TIMEOUTS } from './limits.ts';
import { addBytesParser } from './protocol/body.ts';
import {
  answerClientError,
  attachConnection,
  checkFraming,
  noteAnswer,
} from './protocol/connection.ts';
import { collectRoutes, escapeTarget, refuseTheRest } from './protocol/methods.ts';
import { addDocs, addDocument } from './routes/docs.ts';
import { petRoutes } from './routes/pets.ts';
import { COMPONENTS, compileValidator } from './schemas.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Fastify's own logger makes a child for each request; this one does not. */
    petstoreLog: FastifyBaseLogger;
  }
  interface FastifyRequest {
    /** When its head was there, by `performance.now`. */
    startedAt: number;
  }
}

export interface AppOptions {
  readonly store: Store;
  readonly log: FastifyBaseLogger;
  readonly environment: Environment;
  /** The outside address of the service, ending in `/v1`; without it links are relative. */
  readonly baseUrl?: string;
  /** Origins whose pages may read answers; `*` is any. */
  readonly corsOrigins: readonly string[];
  /** Whether `GET /pets/{petId}` answers 410. */
  readonly isGetPetRetired: boolean;
  readonly now?: () => number;
}

/** The service, ready to listen or to be injected; `close` stops it and leaves the store open. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { store, log, environment, baseUrl = '/v1', now = Date.now } = options;
  const base = baseUrl.replace(/\/v1$/, '');
  let isStopping = false;

  // Below the application: the parser's limits, and its refusals in the Error shape.
  const app = fastify({
    http: {
      joinDuplicateHeaders: true,
      maxHeaderSize: HEADER_BYTES_MAX,
      requireHostHeader: false,
      ...TIMEOUTS,
    },
    requestTimeout: TIMEOUTS.requestTimeout,
    connectionTimeout: IDLE_MS_MAX,
    clientErrorHandler: (error, socket) => answerClientError(error, socket, log),
    genReqId: createRequestId,
    return503OnClosing: false,
    routerOptions: { maxParamLength: HEADER_BYTES_MAX },
    rewriteUrl: ({ url = '/' }) => escapeTarget(url),
  });
  const closeSilentConnections = attachConnection(app.server, log);
  app.decorate('petstoreLog', log);
  app.decorateRequest('startedAt', 0);
  app.decorateRequest('keyId', null);
  app.setValidatorCompiler(compileValidator);
  app.setErrorHandler(answerError);
  for (const schema of COMPONENTS) app.addSchema(schema);

  // Each request: its framing, its origin; under /v1 its key; then its route, body and handler.
  app.addHook('onRequest', (request, _reply, done) => {
    request.startedAt = performance.now();
    done();
  });
  app.addHook('onRequest', noteAnswer);
  app.addHook('onRequest', checkFraming);
  app.addHook('onRequest', createCors(options.corsOrigins));

  // Each answer: the headers that all have, and a line in the log. Not in onResponse, whose listeners
  // cost as much as all these hooks.
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (!reply.hasHeader('content-security-policy')) reply.headers(CONSTANT_HEADERS);
    reply.header('x-request-id', request.id);
    const type = reply.getHeader('content-type');
    if (type === 'application/json; charset=utf-8')
      reply.header('content-type', 'application/json');
    if (isStopping) reply.header('connection', 'close');
    log.info({
      method: request.method,
      route: request.routeOptions.url,
      status: reply.statusCode,
      ms: Math.round((performance.now() - request.startedAt) * 1000) / 1000,
      requestId: request.id,
      keyId: request.keyId,
    });
    // A refusal goes at once: the parser may refuse the rest of the request in this very turn.
    if (reply.statusCode >= 400) done();
    else
      endOfTurn()
        .then(() => done())
        .catch(done);
  });
  app.addHook('preClose', async () => {
    isStopping = true;
    closeSilentConnections();
  });

  addBytesParser(app);
  await addDocument(app, { environment, base });
  const routes = collectRoutes(app);

  await app.register(
    async (v1) => {
      v1.addHook('onRequest', createAuthenticate({ keys: store.keys, environment, now }));
      await v1.register(petRoutes, {
        store,
        base,
        isGetPetRetired: options.isGetPetRetired,
        now,
      });
      refuseTheRest(v1, routes);
    },
    { prefix: '/v1' },
  );

  await addDocs(app, { environment, base });
  app.get('/livez', { schema: { hide: true } }, async () => ({ status: 'ok' }));
  app.get('/readyz', { schema: { hide: true } }, async () => {
    if (isStopping) throw new PetstoreError('unavailable', 'the service is stopping');
    await store.check();
    return { status: 'ok' };
  });
  refuseTheRest(app, routes);
  await app.ready();
  return app;
}

let turn: Promise<void> | undefined;

/**
 * Resolves when this turn of the event loop ends. Answers that wait for it go out right after one
 * another, with the code to send them in the processor's caches and a client that is awake.
 */
function endOfTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = undefined;
      resolve();
    });
  });
  return turn;
}
