/** The HTTP server: Fastify on node:http without its steps and routes, and what the steps tell each other of a request. */

import { isIP } from 'node:net';
import fastify, {
  type FastifyInstance,
  type FastifyServerOptions,
  type onRequestHookHandler,
} from 'fastify';
import type { Log, Refusal, RequestLine } from '../log.ts';
import type { ServedStore } from '../store.ts';
import { CanonicalResponse } from './headers.ts';
import type { FairQueue, Group } from './hooks/fair-queue.ts';
import type { TokenBuckets } from './hooks/rate-limit.ts';
import { HTTP_LIMITS } from './limits.ts';
import type { RequestOptions } from './options.ts';
import { BodyRequest } from './protocol/body.ts';
import type { boundConnections } from './protocol/connections.ts';
import { createOneRequestServer } from './protocol/one-request.ts';

const REQUEST_FACTS = {
  /** When its headers were parsed, by `performance.now`. */
  startedAt: 0,
  client: '',
  /** The id of its key, a refused one too; null until it is known. */
  keyId: null as number | null,
  isReadOnly: false,
  /** When that key was accepted, by `performance.now`. */
  acceptedAt: -Infinity,
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
    readConnections: () => ReturnType<ReturnType<typeof boundConnections>> & {
      waitingRequests: number;
    };
    /** @throws PetstoreError when the service cannot serve requests. */
    checkReady: () => Promise<void>;
  }
}

/** The admin listener has none of the options of requests. */
export interface HttpServerOptions extends Partial<RequestOptions> {
  readonly store: ServedStore;
  readonly log: Log;
  readonly count?: ((line: RequestLine) => void) | undefined;
  /** Whether the service is stopping: then each connection ends with its answer, and `/readyz` is 503. */
  readonly isStopping: () => boolean;
  readonly rateLimiter?: TokenBuckets | undefined;
  /** The time in milliseconds since 1970. */
  readonly now?: () => number;
}

export type AppOptions = HttpServerOptions &
  Pick<RequestOptions, 'environment' | 'corsOrigin' | 'rehearse' | 'retireGetPet'>;

const TIMEOUT_CHECK_MS = 500;

const HTTP_OPTIONS = {
  IncomingMessage: BodyRequest,
  ServerResponse: CanonicalResponse,
  joinDuplicateHeaders: true,
  // A get costs a tenth less CPU time: nobody waits for the end of a body that is not there.
  optimizeEmptyRequests: true,
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

export function createFastify(options: FastifyServerOptions): FastifyInstance {
  const app = fastify({
    ...options,
    serverFactory: (handle) => createOneRequestServer(HTTP_OPTIONS, handle),
    return503OnClosing: false,
    schemaController: {
      compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema },
    },
    // `escapeTarget` may make three characters of one: `#` becomes `%23`.
    routerOptions: { maxParamLength: 3 * HTTP_LIMITS.HEADER_BYTES_MAX.value },
  });
  app.server.timeout = HTTP_LIMITS.IDLE_MS_MAX.value;
  for (const [name, value] of Object.entries(REQUEST_FACTS))
    app.decorateRequest<unknown>(name, value);
  return app;
}

export const startRequest: onRequestHookHandler = (request, _reply, done) => {
  request.startedAt = performance.now();
  const { ip, socket } = request;
  const { remoteAddress = 'unknown' } = socket;
  // A trusted proxy may forward any text.
  request.client = isIP(ip) === 0 ? remoteAddress : ip;
  done();
};
