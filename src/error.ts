/** The failures that the petstore expects and names; which HTTP status each has is not said here. */

/** One code for each way to refuse a request; clients switch on it, so a code never changes. */
export const ERROR_CODES = [
  'bad_request',
  'unauthorized',
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'gone',
  'payload_too_large',
  'unsupported_media_type',
  'idempotency_key_reused',
  'headers_too_large',
  'internal_error',
  'unavailable',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * A failure that was foreseen. The message is written for the person who can mend it: it names the
 * field, parameter or option and says what it must be, and never holds a key, a path of the source
 * or a statement of the database.
 */
export class PetstoreError extends Error {
  override readonly name = 'PetstoreError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
