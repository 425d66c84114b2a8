/** The errors that the petstore expects, each with a code that clients may rely on. */

/** One code for each kind of error. Clients switch on it, so a code never changes. */
export const ERROR_CODES = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'gone',
  'payload_too_large',
  'unsupported_media_type',
  'idempotency_key_reused',
  'rate_limited',
  'headers_too_large',
  'internal_error',
  'unavailable',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** The message for an Idempotency-Key that was sent before with another pet. */
export const IDEMPOTENCY_KEY_REUSED =
  'this Idempotency-Key was sent before with another pet: send a new one';

/** The message for an Idempotency-Key whose pet the operator has removed since. */
export const IDEMPOTENT_PET_REMOVED =
  'the pet that this Idempotency-Key added was removed: send a new one to add it again';

/**
 * An expected error. Its message is for the person who can fix the cause: it names the field,
 * parameter or option and says what it must be. It never holds a key, a path of the source or a
 * statement of the database.
 */
export class PetstoreError extends Error {
  override readonly name = 'PetstoreError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
