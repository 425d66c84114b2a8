/** The limits of a request, of a connection, and of what waits: sizes, times and numbers. */

import { JSON_LEVELS_MAX, JSON_VALUES_MAX } from '../json.ts';
import { KIB, limit, MIB, toValues } from '../limit.ts';
import { NAME_CODE_POINTS_MAX, PAGE_LIMIT_MAX } from '../pet.ts';
import { IDEMPOTENCY_MS } from '../store.ts';

const CONNECTIONS = 'petstore_http_connections';
const WAITING = 'petstore_http_waiting_requests';

const WAIT = 'others wait, and keys take turns';
const RETRY = '503 with `Retry-After`';

export const HTTP_LIMITS = {
  BODY_BYTES_MAX: limit(64 * KIB, 'a body', '413, close'),
  HEADER_BYTES_MAX: limit(16 * KIB, 'the request line and headers', '431, close'),
  HEADER_FIELDS_MAX: limit(100, 'the header fields of a request', '431, close'),
  HEADER_SECONDS_MAX: limit(10, 'the time for the headers to arrive', '408, close'),
  REQUEST_SECONDS_MAX: limit(30, 'the time for a request to arrive', '408, close'),
  JSON_VALUES_MAX: limit(JSON_VALUES_MAX, 'members and elements of a JSON body', '400'),
  JSON_LEVELS_MAX: limit(JSON_LEVELS_MAX, 'levels of a JSON body', '400'),
  NAME_CODE_POINTS_MAX: limit(NAME_CODE_POINTS_MAX, 'the code points of a `name`', '400'),
  PAGE_LIMIT_MAX: limit(PAGE_LIMIT_MAX, 'the pets on a page', '400'),
  IDEMPOTENCY_KEY_CHARACTERS_MAX: limit(255, 'the characters of an `Idempotency-Key`', '400'),
  IDEMPOTENCY_MS: limit(IDEMPOTENCY_MS, 'how long an `Idempotency-Key` is kept', 'forgotten'),
  // Node accepts one connection in a turn: if a turn takes long, new clients wait.
  STARTED_MAX: limit(16, 'requests that start in a turn of the event loop', WAIT, WAITING),
  // These reads wait for the network, not for the processor.
  READS_OF_CONNECTION_MAX: limit(16, 'reads at work for each PostgreSQL connection', WAIT, WAITING),
  CREATES_AT_WORK_MAX: limit(128, 'creates at work', WAIT, WAITING),
  WAITING_MAX: limit(2_000, 'waiting reads of a key, and waiting creates', RETRY, WAITING),
  WAIT_MS_MAX: limit(2_000, 'the wait for a turn', RETRY),
  DELAYED_MAX: limit(100, 'requests that `Prefer: delay` delays', RETRY),
  // Below IDLE_MS_MAX, and the usual limit of a proxy.
  DELAY_SECONDS_MAX: limit(30, 'the delay by `Prefer: delay`', '400'),
  REFUSE_MS: limit(500, 'the pause of a request above `--rate-limit`', '429'),
  READY_AGE_MS_MAX: limit(3_000, 'the age of the check that `/readyz` answers from', 'a new check'),
  CACHED_KEYS_MAX: limit(1_000, 'cached API keys', 'the cache is emptied'),
  // A revocation must hold within 1 s.
  CACHED_KEY_MS_MAX: limit(500, 'how long an API key is cached', 'it is read again'),
  // Each scrape needs one.
  ADMIN_CONNECTIONS_MAX: limit(100, 'connections to the admin port', 'as `--max-connections`'),
  UNREAD_MS_MAX: limit(10_000, 'the time until an answer is read', 'the connection is reset'),
  IDLE_MS_MAX: limit(60_000, 'the time without a byte on a connection', 'close', CONNECTIONS),
  // Above the same time of most proxies, so that the proxy closes first.
  KEEP_ALIVE_MS_MAX: limit(72_000, 'the time between two requests', 'close', CONNECTIONS),
  LINGER_BYTES_MAX: limit(MIB, 'what still comes after the last answer', 'no more is read'),
  LINGER_MS_MAX: limit(2_000, 'the time to close after the last answer', 'close'),
  REFUSALS_LOGGED_MAX: limit(5, 'refusals of a client and code logged in a second', 'counted'),
  REFUSED_CLIENTS_MAX: limit(
    100,
    'clients and codes that the log tells apart',
    'counted as `others`',
  ),
};

export const LIMITS = toValues(HTTP_LIMITS);
