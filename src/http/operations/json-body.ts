/** The body of an operation: what is refused before it is read, and its JSON value. */

import { isUtf8 } from 'node:buffer';
import type { onRequestHookHandler } from 'fastify';
import { badRequest, PetstoreError } from '../../error.ts';
import { isObject, parseJson } from '../../json.ts';

const JSON_MEDIA_TYPE = /^application\/json\s*(?:;\s*(?:charset\s*=\s*(?:utf-?8|"utf-?8")\s*)?)*$/i;
const OTHER_CHARSET = /^application\/json\s*;\s*charset\s*=\s*"?(?!utf-?8)([\w.:-]{1,40})"?$/i;

/** Leaves out a byte order mark. */
const UTF_8 = new TextDecoder();

/** The hook that refuses, before it is read, a body that is not JSON; without a media type it counts as JSON. */
export const requireJson: onRequestHookHandler = (request, _reply, done) => {
  const { 'content-type': type, 'content-encoding': encoding } = request.headers;
  if (type !== undefined && !JSON_MEDIA_TYPE.test(type)) {
    const [, charset] = OTHER_CHARSET.exec(type) ?? [];
    const message = charset && `the charset must be utf-8, and not "${charset}"`;
    throw new PetstoreError('unsupported_media_type', message);
  }
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new PetstoreError(
      'unsupported_media_type',
      'the body must not be compressed: send it without Content-Encoding',
    );
  }
  done();
};

/** @throws PetstoreError `bad_request` when there is no body, or it is no JSON object in UTF-8. */
export function parseBody(bytes: unknown) {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) {
    throw badRequest('the body is required: a JSON object');
  }
  if (!isUtf8(bytes)) throw badRequest('the body must be UTF-8');
  try {
    const value = parseJson(UTF_8.decode(bytes));
    if (isObject(value)) return value;
    throw badRequest('the JSON must be an object');
  } catch (error) {
    if (!(error instanceof PetstoreError)) throw error;
    throw new PetstoreError(error.code, `body: ${error.message}`);
  }
}
