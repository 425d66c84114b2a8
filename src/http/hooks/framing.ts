/** Refuses requests whose end or host two servers could read differently (RFC 9112, request smuggling). */

import type { onRequestHookHandler } from 'fastify';
import { ERRORS, type ErrorCode, PetstoreError } from '../../error.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { isTarget } from '../protocol/request-line.ts';

/** uri-host [ ":" port ] (RFC 9110 section 7.2), not empty. */
const HOST_FIELD = /^(?:\[[0-9A-Fa-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+)(?::\d*)?$/;

/**
 * Refuses what Node's parser accepts, and RFC 9112 does not: a bad Host (section 3.2), a bad Transfer-Encoding (6.1).
 * Repeated fields come joined by a comma, which neither check accepts.
 */
export const rejectAmbiguousFraming: onRequestHookHandler = (request, reply, done) => {
  const refuse = (message: string, code: ErrorCode = 'bad_request'): never => {
    reply.header('connection', 'close');
    throw new PetstoreError(code, message);
  };
  const { method, originalUrl } = request;
  const { httpVersionMajor, httpVersionMinor, rawHeaders } = request.raw;
  // Each field has a name and a value.
  if (rawHeaders.length > 2 * HTTP_LIMITS.HEADER_FIELDS_MAX.value) {
    refuse(ERRORS.headers_too_large.message, 'headers_too_large');
  }
  if (httpVersionMajor !== 1) refuse('the version must be HTTP/1.0 or HTTP/1.1');
  if (!isTarget(originalUrl) && !(originalUrl === '*' && method === 'OPTIONS')) {
    refuse('the request target must be a path');
  }
  const { host, 'transfer-encoding': coding } = request.headers;
  if (host === undefined ? httpVersionMinor !== 0 : !HOST_FIELD.test(host)) {
    refuse('Host must be given once, as host or host:port');
  }
  if (coding !== undefined && (coding !== 'chunked' || httpVersionMinor === 0)) {
    refuse('Transfer-Encoding must be chunked, given once and in HTTP/1.1');
  }
  done();
};
