/** The limits of a request and of a connection: sizes, times, and how many requests are at work. */

/** The largest body, whether or not Content-Length announces it. */
export const BODY_BYTES_MAX = 64 * 1024;

/** The parts in which a body may come, such as the chunks of RFC 9112 section 7.1. */
export const BODY_PARTS_MAX = 1_000;

/** All bytes that are held for clients: bodies that are coming in, requests that wait unparsed, answers that are not read. */
export const HELD_BYTES_MAX = 16 * 1024 * 1024;

/** The request line and all headers. */
export const HEADER_BYTES_MAX = 16 * 1024;

/** The header fields of a request. */
export const HEADER_FIELDS_MAX = 100;

/** The time for the headers of a request to arrive, and for all of it. */
export const HEADER_SECONDS_MAX = 10;
export const REQUEST_SECONDS_MAX = 30;

/** Connections to the admin listener, of which each scrape needs one. */
export const ADMIN_CONNECTIONS_MAX = 100;

/** Requests under a key that are at work at a time; the others wait in the fair queue. */
export const READS_AT_WORK_MAX = 32;
export const CREATES_AT_WORK_MAX = 128;

/** In place of READS_AT_WORK_MAX, for each connection to PostgreSQL: reads wait for the network, not for the processor. */
export const READS_OF_CONNECTION_MAX = 16;

/** How many requests of a key may wait, and for how long. */
export const WAITING_MAX = 2_000;
export const WAIT_MS_MAX = 2_000;

/** How long an answer may take to be read to its end. */
export const UNREAD_MS_MAX = 10_000;

/** How long a request above the rate of its key waits for its 429. */
export const REFUSE_MS = 500;

/** What is still read of a body after the answer that ends its connection, and for how long. */
export const LINGER_BYTES_MAX = 1024 * 1024;
export const LINGER_MS_MAX = 2_000;

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
