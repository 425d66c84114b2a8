/** The limits of a request and of a connection: sizes, times, and how many requests may wait. */

/** The largest body, whether or not Content-Length announces it. */
export const BODY_BYTES_MAX = 64 * 1024;

/** The request line and all headers. */
export const HEADER_BYTES_MAX = 16 * 1024;

/** The time for the headers of a request to arrive, and for all of it. */
export const HEADER_SECONDS_MAX = 10;
export const REQUEST_SECONDS_MAX = 30;

/** Requests of one connection that may wait for their answers. */
export const PIPELINED_MAX = 100;

/** A connection is closed after this long without a byte in either direction: it is idle, or its client has stopped reading. */
export const IDLE_MS_MAX = 60_000;

const CHECK_MS = 500;

/** Node compares the times only once in CHECK_MS, so these are shorter by that, and the limits above hold. */
export const TIMEOUTS = {
  headersTimeout: HEADER_SECONDS_MAX * 1_000 - CHECK_MS,
  requestTimeout: REQUEST_SECONDS_MAX * 1_000 - CHECK_MS,
  connectionsCheckingInterval: CHECK_MS,
} as const;
