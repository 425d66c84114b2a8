/** Cross-origin requests of browsers (CORS, the Fetch standard). */

import type { onRequestHookHandler } from 'fastify';
import { EXPOSED_HEADERS } from '../headers.ts';
import { OPERATIONS } from '../operations/operations.ts';
import { SERVED_METHODS } from '../protocol/request-line.ts';

const ALLOWED_METHODS = SERVED_METHODS.filter((method) => method !== 'OPTIONS').join(', ');
const PARAMETERS = OPERATIONS.flatMap(({ parameters }) => Object.entries(parameters));
const IN_HEADERS = PARAMETERS.filter(([, { place }]) => place === 'header').map(([name]) => name);
const ALLOWED_HEADERS = [
  ...['Authorization', 'Content-Type', ...new Set(IN_HEADERS), 'Prefer', 'X-Request-Id'],
  // Of a trace (W3C Trace Context and Baggage): a page with OpenTelemetry sends them.
  ...['traceparent', 'tracestate', 'baggage'],
].join(', ');
const PREFLIGHT_SECONDS = 7200;

/** Lets pages of these origins read answers. Credentials of browsers are never allowed: a page sends the key itself. */
export function createCors(origins: readonly string[]): onRequestHookHandler {
  const isOpen = origins.includes('*');

  return function cors(request, reply, done) {
    if (!isOpen) reply.header('vary', 'Origin');
    const { origin, 'access-control-request-method': asked } = request.headers;
    const isPreflight = origin !== undefined && asked !== undefined && request.method === 'OPTIONS';
    if (origin !== undefined && (isOpen || origins.includes(origin))) {
      reply.header('access-control-allow-origin', isOpen ? '*' : origin);
      reply.header('access-control-expose-headers', EXPOSED_HEADERS);
      if (isPreflight) {
        reply.header('access-control-allow-methods', ALLOWED_METHODS);
        reply.header('access-control-allow-headers', ALLOWED_HEADERS);
        reply.header('access-control-max-age', PREFLIGHT_SECONDS);
      }
    }
    if (isPreflight) reply.code(204);
    done();
  };
}
