/** The header fields of every response as they are sent: in canonical case. */

import type { IncomingMessage } from 'node:http';
import { CONSTANT_HEADERS, FIELD_NAMES } from '../headers.ts';
import { ServerResponse } from './node-http.ts';

const NAMES = new Map(FIELD_NAMES.map((name) => [name.toLowerCase(), name]));

const JSON_WITH_CHARSET = 'application/json; charset=utf-8';

const CONSTANT_FIELDS = Object.entries(CONSTANT_HEADERS).flat();

/** Fastify hands over the header fields in lower case, in one object. This adds the fields that every answer has. */
export class CanonicalResponse<Request extends IncomingMessage> extends ServerResponse<Request> {
  override writeHead(status: number, fields?: unknown): this {
    const given = (fields ?? {}) as Readonly<Record<string, string>>;
    const named: string[] = [];
    for (const name of Object.keys(given)) {
      const value = given[name] ?? '';
      // Fastify adds a charset, but JSON has no such parameter (RFC 8259 section 11).
      named.push(NAMES.get(name) ?? name, value === JSON_WITH_CHARSET ? 'application/json' : value);
    }
    // A page has its own policy.
    if (given['content-security-policy'] === undefined) named.push(...CONSTANT_FIELDS);
    return super.writeHead(status, named);
  }
}
