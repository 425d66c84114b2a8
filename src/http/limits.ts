/** How large a request may be and how long it may take; what is said when it is more is in errors.ts. */

/** The largest body, in bytes, whether or not Content-Length announces it. */
export const BODY_BYTES_MAX = 64 * 1024;

/** The head of a request, its line included. */
export const HEADER_BYTES_MAX = 16 * 1024;

/** A request's head must have arrived after so long, and all of it. */
export const HEADER_SECONDS_MAX = 10;
export const REQUEST_SECONDS_MAX = 30;

/** Requests of one connection that may wait for their answers. */
export const PIPELINED_MAX = 100;

/** A connection on which nothing moves for so long is closed: its client reads no more. */
export const IDLE_MS_MAX = 60_000;

const CHECK_MS = 500;

/** Node looks at its clocks now and then: a check earlier, so that nobody waits longer than said. */
export const TIMEOUTS = {
  headersTimeout: HEADER_SECONDS_MAX * 1_000 - CHECK_MS,
  requestTimeout: REQUEST_SECONDS_MAX * 1_000 - CHECK_MS,
  connectionsCheckingInterval: CHECK_MS,
} as const;
