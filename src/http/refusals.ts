/** The usual words of each refusal; its status is in errors.ts. */

import { type ErrorCode, PetstoreError } from '../error.ts';
import {
  BODY_BYTES_MAX,
  HEADER_BYTES_MAX,
  HEADER_SECONDS_MAX,
  REQUEST_SECONDS_MAX,
} from './limits.ts';

/** What is said of a code when nothing more is known, and in the document's examples. */
export const MESSAGES: Readonly<Record<ErrorCode, string>> = {
  bad_request: 'the request is not well-formed HTTP/1.1',
  unauthorized: 'a valid API key is required: send it as Authorization: Bearer <API_KEY>',
  not_found: 'there is no animal with this petId',
  method_not_allowed: 'this path takes only GET, HEAD, POST, OPTIONS',
  request_timeout: `the request must arrive within ${REQUEST_SECONDS_MAX} s, its headers within ${HEADER_SECONDS_MAX} s`,
  gone: 'this operation was removed: use GET /v1/pets instead',
  payload_too_large: `the body must be at most ${BODY_BYTES_MAX / 1024} KiB`,
  unsupported_media_type:
    'Content-Type must be application/json, in UTF-8 (with curl: -H "Content-Type: application/json")',
  idempotency_key_reused:
    'this Idempotency-Key was sent before with another animal: send a new one',
  headers_too_large: `the request line and headers must be at most ${HEADER_BYTES_MAX / 1024} KiB`,
  internal_error: 'the service failed to answer; the X-Request-Id names this request in its log',
  unavailable: 'the service cannot answer now: try again when Retry-After says',
};

/** The failure of that code, in its usual words. */
export function refuse(code: ErrorCode): PetstoreError {
  return new PetstoreError(code, MESSAGES[code]);
}
