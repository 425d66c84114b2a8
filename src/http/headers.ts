/** The headers that every answer carries, whichever layer gives it. */

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export const CONSTANT_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

const REQUEST_ID = /^[\w.-]{1,128}$/;

/** The caller's own X-Request-Id when it is fit for a log, so that its traces meet ours; else a new one. */
export function createRequestId(request?: IncomingMessage): string {
  const sent = request?.headers['x-request-id'];
  return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : randomUUID();
}
