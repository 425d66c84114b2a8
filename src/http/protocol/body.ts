/** From the bytes of a body to a JSON value: media type, encoding, `Expect` and UTF-8. */

import type { FastifyInstance, onRequestHookHandler, preParsingHookHandler } from 'fastify';
import { PetstoreError } from '../../error.ts';
import { parseJson } from '../../json.ts';
import type { BodyRequest } from './request-body.ts';

const JSON_MEDIA_TYPE = /^application\/json\s*(?:;\s*(?:charset\s*=\s*(?:utf-8|"utf-8")\s*)?)*$/i;

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** Makes Fastify hand over every body as bytes; the handler parses them, after all hooks. */
export function addBytesParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, raw, done) => (raw as BodyRequest).readBody(done));
}

/** The hook that refuses, before it is read, a body that is not JSON; without a media type it counts as JSON. */
export const requireJson: onRequestHookHandler = (request, _reply, done) => {
  const { 'content-type': type, 'content-encoding': encoding } = request.headers;
  if (type !== undefined && !JSON_MEDIA_TYPE.test(type)) {
    throw new PetstoreError('unsupported_media_type');
  }
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new PetstoreError(
      'unsupported_media_type',
      'the body must not be compressed: send it without Content-Encoding',
    );
  }
  done();
};

/** The hook that sends `100 Continue` (RFC 9110 section 10.1.1), just before the body is read. */
export const send100Continue: preParsingHookHandler = (request, reply, _body, done) => {
  const isWaiting = /^100-continue$/i.test(request.headers.expect ?? '');
  // HTTP/1.0 has no 1xx responses.
  if (isWaiting && request.raw.httpVersionMinor > 0) reply.raw.writeContinue();
  done();
};

/**
 * The JSON value of a body.
 *
 * @throws PetstoreError `bad_request` when there is no body, or it is not JSON in UTF-8.
 */
export function parseBody(bytes: unknown): unknown {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) {
    throw new PetstoreError('bad_request', 'the body is required: a JSON object');
  }
  let text: string;
  try {
    text = UTF_8.decode(bytes);
  } catch {
    throw new PetstoreError('bad_request', 'the body must be UTF-8');
  }
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof PetstoreError)) throw error;
    throw new PetstoreError(error.code, `body: ${error.message}`);
  }
}
