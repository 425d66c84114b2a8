/** The names of header fields as they are sent: some clients look up `Link` and `Location` by their case. */

import type { IncomingMessage } from 'node:http';
import { ServerResponse } from './node-http.ts';

const NAMES = new Map(
  [
    ...['Access-Control-Allow-Headers', 'Access-Control-Allow-Methods'],
    ...['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers', 'Access-Control-Max-Age'],
    ...['Allow', 'Cache-Control', 'Connection', 'Content-Encoding', 'Content-Length'],
    ...['Content-Security-Policy', 'Content-Type', 'Deprecation', 'Idempotency-Replayed'],
    ...['Link', 'Location', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'Sunset'],
    ...['Vary', 'WWW-Authenticate', 'X-Content-Type-Options', 'X-Request-Id'],
  ].map((name) => [name.toLowerCase(), name]),
);

/** The name of a field, given in lower case, as it is sent. */
export function toFieldName(name: string): string {
  return NAMES.get(name) ?? name;
}

/** Fastify hands over its header fields in lower case, in one object. */
export class CanonicalResponse<Request extends IncomingMessage> extends ServerResponse<Request> {
  override writeHead(status: number, fields?: unknown): this {
    const named: string[] = [];
    for (const [name, value] of Object.entries(fields ?? {})) {
      named.push(toFieldName(name), value);
    }
    return super.writeHead(status, named);
  }
}
