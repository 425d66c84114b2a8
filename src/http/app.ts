/** Every step of a request, from its connection to the last byte of its answer, in order. A comment tells why a step has its place. */

import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import { answerError } from './error-answers.ts';
import { createRequestId } from './headers.ts';
import { createAuthenticate } from './hooks/authenticate.ts';
import { createCors } from './hooks/cors.ts';
import { FairQueue } from './hooks/fair-queue.ts';
import { createFinishHead, createSendTogether, waitForTurn } from './hooks/finish-response.ts';
import { rejectAmbiguousFraming } from './hooks/framing.ts';
import { createRateLimit } from './hooks/rate-limit.ts';
import { createRehearse, loseAnswer } from './hooks/rehearse.ts';
import { addOperations } from './operations/routes.ts';
import { addBytesParser } from './protocol/body.ts';
import { boundConnections } from './protocol/connections.ts';
import { answerParserError, handleServerEvents } from './protocol/parser-errors.ts';
import { escapeTarget } from './protocol/request-line.ts';
import { RequestLog } from './request-log.ts';
import { addConsoleRoutes } from './routes/console.ts';
import { addDocsRoutes } from './routes/docs.ts';
import { addFallbackRoutes, collectRoutes, createRefuseUnknownPath } from './routes/fallback.ts';
import { addHealthRoutes } from './routes/health.ts';
import { type AppOptions, createFastify, type HttpServerOptions, startRequest } from './server.ts';

export function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { store, environment, retireGetPet, baseUrl = '/v1' } = options;
  const base = baseUrl.replace(/\/v1$/, '');
  return createHttpApp(options, (app, v1) => {
    addOperations(v1, { pets: store.pets, base, retireGetPet });
    addDocsRoutes(app, { environment, baseUrl });
    addConsoleRoutes(app);
  });
}

/** Of the admin listener: each scrape needs one. */
export const ADMIN_CONNECTIONS_MAX = 100;
const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8';

export interface AdminOptions extends HttpServerOptions {
  readonly readMetrics: () => Promise<string>;
}

/** The admin listener, for the operator's own network. No key is needed: who reaches its port may read all of it. */
export function createAdminApp(options: AdminOptions): Promise<FastifyInstance> {
  return createHttpApp({ ...options, maxConnections: ADMIN_CONNECTIONS_MAX }, (app) => {
    app.get('/metrics', async (_request, reply) =>
      reply.type(PROMETHEUS_TEXT).send(await options.readMetrics()),
    );
  });
}

/** The application, ready to listen or to be injected; its `close` leaves the store open. */
async function createHttpApp(
  options: HttpServerOptions,
  addRoutes: (app: FastifyInstance, v1: FastifyInstance) => void,
): Promise<FastifyInstance> {
  const { store, log, count, isStopping, trustProxy = [], maxConnections = Infinity } = options;
  const requestLog = new RequestLog(log, count);
  const queue = new FairQueue(store.connectionsMax);
  const app = createFastify({
    trustProxy: trustProxy.length > 0 && [...trustProxy],
    // What Node's parser refuses never becomes a request: no hook would answer it.
    clientErrorHandler: (error, socket) => answerParserError(error, socket, requestLog),
    // Before the router, which would answer a bad percent-escape by itself.
    rewriteUrl: ({ url = '/' }) => escapeTarget(url),
    // Before the hooks: each refusal has an id.
    genReqId: createRequestId,
  });
  // At the first moment: a client that sends nothing takes a place too.
  const giveWay = (open: number) => queue.giveWay(open)?.socket;
  const readConnections = boundConnections(app.server, log, maxConnections, giveWay);
  app.server.on('connection', () => queue.shortenTurn());
  // Fastify does not see a second request, `Expect`, and a method that it cannot route.
  handleServerEvents(app.server, requestLog);
  app.decorate('queue', queue);
  app.decorate('readConnections', () => ({ ...readConnections(), waitingRequests: queue.waiting }));
  app.addHook('onClose', async () => requestLog.flush());
  const routes = collectRoutes(app);
  // The scope comes before the steps: so a step of `app` is one of the scope too, in the order of the lines.
  await app.register(
    async (v1) => {
      addSteps(app, v1, options, requestLog);
      addRoutes(app, v1);
      addHealthRoutes(app, store, isStopping);
      addFallbackRoutes(v1, routes);
      addFallbackRoutes(app, routes);
    },
    { prefix: '/v1' },
  );
  await app.ready();
  return app;
}

/** From the route to the last byte. */
function addSteps(
  app: FastifyInstance,
  v1: FastifyInstance,
  options: HttpServerOptions,
  requestLog: RequestLog,
): void {
  const { environment, corsOrigin, rateLimiter, rehearse, isStopping } = options;
  const authenticate = environment && createAuthenticate(options, environment);
  // First: the log line of each refusal has the time and the client.
  app.addHook('onRequest', startRequest);
  // Before any refusal: a page must be able to read why.
  if (corsOrigin) app.addHook('onRequest', createCors(corsOrigin));
  // Before anything is answered.
  app.addHook('onRequest', rejectAmbiguousFraming);
  // Before the key, which a preflight does not have.
  if (corsOrigin) app.addHook('onRequest', answerPreflight);
  // Before path, method and body: without a key, a client learns nothing and sends no body.
  if (authenticate) v1.addHook('onRequest', authenticate);
  // After the key, whose requests are counted.
  if (rateLimiter) v1.addHook('onRequest', createRateLimit(rateLimiter));
  // Before the body, as the next refusals: 405 in `routes/fallback.ts`; 410, 403 and 415 in `operations/routes.ts`.
  app.addHook(
    'onRequest',
    createRefuseUnknownPath(authenticate ? undefined : 'metrics are at /metrics'),
  );
  // After all refusals that need no body.
  addBytesParser(v1);
  // Before the queue: a request that is delayed takes no place there.
  if (rehearse) v1.addHook('preValidation', createRehearse());
  // After the body, which `operations/routes.ts` has parsed: a slow body takes no place, and a pet little memory.
  app.addHook('preHandler', (request, _reply, done) => app.queue.enter(request, done));
  // Again: the key may be revoked during the body and the wait.
  if (authenticate) v1.addHook('preHandler', authenticate);
  // Here the handler runs. An error of any step goes on here.
  app.setErrorHandler(answerError);
  // Before the answer costs anything: refusals must not take the turns of others.
  app.addHook('onSend', waitForTurn);
  // After the wait: the log line has its time.
  app.addHook('onSend', createFinishHead(requestLog, isStopping));
  // After the log line, in place of the bytes.
  if (rehearse) v1.addHook('onSend', loseAnswer);
  // Last: Fastify writes the answer (`headers.ts`); `protocol/lingering-close.ts` may end its connection.
  app.addHook('onSend', createSendTogether());
}

const answerPreflight: onRequestHookHandler = (_request, reply, done) => {
  // `hooks/cors.ts` has set it.
  if (reply.statusCode === 204) reply.send();
  else done();
};
