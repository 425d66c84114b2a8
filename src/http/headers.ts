/** The headers of every answer, whether the application or the parser gives it. */

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export const CONSTANT_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

const REQUEST_ID = /^[\w.-]{1,128}$/;

/** The client's X-Request-Id when it is safe to log, so that its own traces name the same request; else a new one. */
export function createRequestId(request?: IncomingMessage): string {
  const sent = request?.headers['x-request-id'];
  return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : randomUUID();
}
