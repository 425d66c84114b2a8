/** The limits that a client can meet: of a request, of a connection, and of the waiting requests. */

import { BOUNDS } from '../error.ts';
import { JSON_LEVELS_MAX, JSON_VALUES_MAX } from '../json.ts';
import { KIB, limit, MIB, TRY_LATER } from '../limit.ts';
import { IDEMPOTENCY_MS } from '../store.ts';

const CONNECTIONS = 'petstore_http_connections';

export const HTTP_LIMITS = {
  BODY_BYTES_MAX: limit(BOUNDS.bodyKib * KIB, 'a body', '413, close'),
  // Node's parser calls the service for each part: a body of 65,536 chunks would take 0.1 s.
  BODY_PARTS_MAX: limit(1_024, 'the chunks or packets of a body', '413, close'),
  HEADER_BYTES_MAX: limit(BOUNDS.headKib * KIB, 'the request line and headers', '431, close'),
  HEADER_FIELDS_MAX: limit(BOUNDS.headFields, 'the header fields of a request', '431, close'),
  HEADER_SECONDS_MAX: limit(BOUNDS.headSeconds, 'the time for the headers to arrive', '408, close'),
  REQUEST_SECONDS_MAX: limit(BOUNDS.seconds, 'the time for a request to arrive', '408, close'),
  JSON_VALUES_MAX: limit(JSON_VALUES_MAX, 'members and elements of a JSON body', '400'),
  JSON_LEVELS_MAX: limit(JSON_LEVELS_MAX, 'levels of a JSON body', '400'),
  IDEMPOTENCY_KEY_CHARACTERS_MAX: limit(255, 'the characters of an `Idempotency-Key`', '400'),
  IDEMPOTENCY_MS: limit(IDEMPOTENCY_MS, 'how long an `Idempotency-Key` is kept', 'forgotten'),
  WAIT_MS_MAX: limit(2_000, 'the wait for a turn', TRY_LATER, 'petstore_http_waiting_requests'),
  REFUSE_MS: limit(500, 'the pause of a request above `--rate-limit`', '429'),
  UNREAD_MS_MAX: limit(10_000, 'the time until an answer is read', 'the connection is reset'),
  IDLE_MS_MAX: limit(60_000, 'the time without a byte on a connection', 'close', CONNECTIONS),
  // Longer than proxies keep an unused connection, so that the proxy closes it first.
  KEEP_ALIVE_MS_MAX: limit(650_000, 'the time between two requests', 'close', CONNECTIONS),
  LINGER_BYTES_MAX: limit(
    MIB,
    'the bytes dropped behind a refusal',
    'no more is read; close after 2 s',
  ),
};
