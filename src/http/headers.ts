/** The header fields of answers, as they are sent, and the id of a request. */

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createCursor } from './cursor.ts';
import { ServerResponse } from './protocol/node-http.ts';

const text = (maxLength: number) => ({ type: 'string', maxLength });

const REQUEST_ID = /^[A-Za-z0-9_.-]+$/;
const REQUEST_ID_CHARACTERS_MAX = 128;

/** An address begins with `--base-url`, which may be long. */
const ADDRESS = text(8_192);

/** The fields in the document. Pages of other origins may read them. */
export const EXPOSED_FIELDS = {
  Link: {
    schema: ADDRESS,
    description:
      'The next page, with `rel="next"` (RFC 8288); absent on the last one. Resolve a relative one against the address of the request.',
    example: `</v1/pets?limit=20&cursor=${createCursor(20n)}>; rel="next"`,
  },
  Location: { schema: ADDRESS, description: 'Where the pet is.' },
  'Idempotency-Replayed': {
    schema: { type: 'boolean' },
    description: 'Whether an earlier request with this `Idempotency-Key` added the pet.',
  },
  Deprecation: { schema: text(32), description: 'Since when it is deprecated (RFC 9745).' },
  Sunset: { schema: text(32), description: 'When it is to be removed (RFC 8594).' },
  'WWW-Authenticate': { schema: text(128), description: 'The challenge (RFC 6750 section 3).' },
  'Retry-After': {
    schema: { type: 'integer', minimum: 1 },
    description:
      'On a 429 and a 503: after how many seconds to try again. After a 503, send a POST again only with its `Idempotency-Key`.',
  },
  RateLimit: {
    schema: text(128),
    description:
      'How many more requests the key may send now (`r`), for so many seconds (`t`), as in `"default";r=50;t=1`. Absent when requests are not limited (draft-ietf-httpapi-ratelimit-headers-11).',
  },
  'RateLimit-Policy': {
    schema: text(128),
    description:
      'The limit of each key: requests (`q`) in so many seconds (`w`), and how many at once, as in `"default";q=100;w=1;petstore-burst=200`.',
  },
  'Preference-Applied': {
    schema: text(128),
    description: 'What `serve --rehearse` did of the `Prefer` of the request (RFC 7240).',
  },
  'X-Request-Id': {
    schema: { ...text(REQUEST_ID_CHARACTERS_MAX), pattern: REQUEST_ID.source },
    description: 'Names this request in the log: the one that was sent, or a new one.',
  },
} satisfies Record<string, { schema: object; description: string; example?: string }>;

export type HeaderName = keyof typeof EXPOSED_FIELDS;
export const EXPOSED_HEADERS = Object.keys(EXPOSED_FIELDS).join(', ');

export const CONSTANT_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

const KNOWN_NAMES = [...Object.keys(EXPOSED_FIELDS), 'Content-Length', 'Content-Type'];
const NAMES = new Map(KNOWN_NAMES.map((name) => [name.toLowerCase(), name]));

/** The canonical case: some clients look up `Link` by its case. The pattern alone would write `Www-Authenticate`. */
function toSentName(name: string): string {
  return NAMES.get(name) ?? name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
}

const CONSTANT_FIELDS = Object.entries(CONSTANT_HEADERS).map(([name, value]) => {
  return { name, key: name.toLowerCase(), value };
});

const JSON_WITH_CHARSET = 'application/json; charset=utf-8';

/** Fastify hands over the header fields in lower case, in one object. This adds the fields that every answer has. */
export class CanonicalResponse<Request extends IncomingMessage> extends ServerResponse<Request> {
  override writeHead(status: number, fields?: unknown): this {
    const given = (fields ?? {}) as Readonly<Record<string, string>>;
    const named: string[] = [];
    for (const name of Object.keys(given)) {
      const value = given[name] ?? '';
      // Fastify adds a charset, but JSON has no such parameter (RFC 8259 section 11).
      named.push(toSentName(name), value === JSON_WITH_CHARSET ? 'application/json' : value);
    }
    // Some pages have their own values.
    for (const { name, key, value } of CONSTANT_FIELDS) {
      if (!(key in given)) named.push(name, value);
    }
    return super.writeHead(status, named);
  }
}

/** The client's X-Request-Id, so that its own traces name the same request; else a new one. */
export function createRequestId(request?: IncomingMessage): string {
  const id = request?.headers['x-request-id'];
  const isSafe =
    typeof id === 'string' && id.length <= REQUEST_ID_CHARACTERS_MAX && REQUEST_ID.test(id);
  return isSafe ? id : randomUUID();
}
