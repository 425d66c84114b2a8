/** Requests by an HTTP client, and the checks that hold for every answer of the service. */

import assert from 'node:assert/strict';
import { Agent, type OutgoingHttpHeaders, request } from 'node:http';
import { HANG_MS } from './hang.ts';
import type { Answer } from './socket.ts';

export interface Sent {
  readonly method?: string;
  /** The request target, sent as it is. */
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  /** The address that the client has. */
  readonly localAddress?: string;
  /** Ends the wait for the answer. */
  readonly signal?: AbortSignal;
}

const agent = new Agent({ keepAlive: true, timeout: HANG_MS });

/** The answer to one request. */
export function send(port: number, { headers, body, ...sent }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const going = request(
      { agent, host: '127.0.0.1', port, headers: { ...headers }, ...sent },
      async (response) => {
        const chunks: Buffer[] = [];
        try {
          for await (const chunk of response) chunks.push(chunk);
        } catch (error) {
          // It was cut off in the middle.
          reject(error);
        }
        const { statusCode: status = 0, rawHeaders } = response;
        resolve({ status, headers: join(rawHeaders), body: Buffer.concat(chunks).toString() });
      },
    );
    going.on('error', reject);
    going.on('timeout', () => {
      going.destroy(new Error(`no answer to ${going.method} ${going.path} in ${HANG_MS} ms`));
    });
    going.end(body);
  });
}

/** A field that came twice is joined by a comma, so that no comparison takes it for one. */
function join(rawHeaders: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = String(rawHeaders[at]).toLowerCase();
    const value = String(rawHeaders[at + 1]);
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}

/** The published codes, each with its one status. */
export const STATUS_OF = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  gone: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal_error: 500,
  unavailable: 503,
} as const;

export type Code = keyof typeof STATUS_OF;

/** Asserts the whole of an error: its status, the three members and no more, and the headers. */
export function assertError(answer: Answer, code: Code, message: RegExp): void {
  assert.equal(answer.status, STATUS_OF[code], answer.body);
  assertHeaders(answer);
  const body = JSON.parse(answer.body);
  assert.deepEqual(body, { code, message: body.message, status: STATUS_OF[code] });
  assert.match(body.message, message);
  const isForLater = [429, 503].includes(answer.status);
  assert.equal('retry-after' in answer.headers, isForLater);
}

/** Asserts a JSON answer with the headers that all have, each once. */
export function assertJson(answer: Answer, status: number): void {
  assert.equal(answer.status, status, answer.body);
  assertHeaders(answer);
}

function assertHeaders({ headers }: Answer): void {
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['content-security-policy'], "default-src 'none'; frame-ancestors 'none'");
  assert.match(headers['x-request-id'] ?? '', /^[\w.-]{1,128}$/);
}
