/** The limits of a request and of a connection: sizes, times, and how many requests are at work. */

/** The largest body, whether or not Content-Length announces it. */
export const BODY_BYTES_MAX = 64 * 1024;

/** The request line and all headers. */
export const HEADER_BYTES_MAX = 16 * 1024;

/** The time for the headers of a request to arrive, and for all of it. */
export const HEADER_SECONDS_MAX = 10;
export const REQUEST_SECONDS_MAX = 30;

/** Connections to the admin listener, of which each scrape needs one. */
export const ADMIN_CONNECTIONS_MAX = 100;

/** Requests of one connection that are at work before their answers are sent. */
export const AT_WORK_MAX = 4;

/** When an answer takes longer than LATE_MS, half of so many requests of all keys may be at work, and fewer while that goes on. */
export const LATE_MS = 100;
export const SHARED_AT_WORK_MAX = 1_024;
export const SHARED_AT_WORK_MIN = 64;

/** How long a request above that share waits for its 503, and one above its key's rate for its 429. */
export const REFUSE_MS = 500;

/** What is still read of a body after the answer that ends its connection, and for how long. */
export const LINGER_BYTES_MAX = 1024 * 1024;
export const LINGER_MS_MAX = 2_000;

/** Clients that read the script of the docs page at a time, and the time that each of them surely has. */
export const DOCS_SCRIPT_READERS_MAX = 32;
export const DOCS_SCRIPT_SECONDS_MIN = 10;

/** Refusals of a client with the same code that are logged in a second, and clients that are told apart by it. */
export const REFUSALS_LOGGED_MAX = 5;
export const REFUSED_CLIENTS_MAX = 100;

/** A connection is closed after this long without a byte in either direction: it is idle, or its client has stopped reading. */
export const IDLE_MS_MAX = 60_000;

/** A connection without a request is closed after this time, which is above that of most proxies. */
const KEEP_ALIVE_MS_MAX = 72_000;

const CHECK_MS = 500;

/** Node compares the first two only once in CHECK_MS, so these are shorter by that, and the limits above hold. */
export const TIMEOUTS = {
  headersTimeout: HEADER_SECONDS_MAX * 1_000 - CHECK_MS,
  requestTimeout: REQUEST_SECONDS_MAX * 1_000 - CHECK_MS,
  connectionsCheckingInterval: CHECK_MS,
  keepAliveTimeout: KEEP_ALIVE_MS_MAX,
} as const;
