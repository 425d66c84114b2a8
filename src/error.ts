/** The errors that the petstore expects, each with a code that clients may rely on. */

/** The messages when nothing more specific is known. Clients switch on the code, so a code never changes. */
export const ERRORS = {
  bad_request: { status: 400, message: 'the request is not well-formed HTTP/1.1' },
  unauthorized: {
    status: 401,
    message: 'a valid API key is required: send it as Authorization: Bearer <API_KEY>',
  },
  forbidden: { status: 403, message: 'this API key is read-only: add pets with another key' },
  not_found: { status: 404, message: 'there is no pet with this petId' },
  method_not_allowed: {
    status: 405,
    message: 'this path does not take this method: Allow lists its methods',
  },
  request_timeout: {
    status: 408,
    message: 'the request must arrive within 30 s, its headers within 10 s',
  },
  gone: { status: 410, message: 'this operation was removed: use GET /v1/pets instead' },
  payload_too_large: { status: 413, message: 'the body must be at most 64 KiB' },
  unsupported_media_type: {
    status: 415,
    message:
      'Content-Type must be application/json, in UTF-8 (with curl: -H "Content-Type: application/json")',
  },
  idempotency_key_reused: {
    status: 422,
    message: 'this Idempotency-Key was sent before with another pet: send a new key',
  },
  rate_limited: {
    status: 429,
    message: 'this key has sent too many requests: try again when Retry-After says',
  },
  headers_too_large: {
    status: 431,
    message: 'the request line and headers must be at most 16 KiB, in 100 fields',
  },
  internal_error: {
    status: 500,
    message: 'the service failed to answer; the X-Request-Id names this request in its log',
  },
  unavailable: {
    status: 503,
    message:
      'the service cannot answer now: try again when Retry-After says, a POST only with its Idempotency-Key',
  },
} as const;

export type ErrorCode = keyof typeof ERRORS;

export const IDEMPOTENT_PET_REMOVED =
  'the pet of this Idempotency-Key was removed: send a new key to add it again';

/**
 * An expected error. Its message is for the person who can fix the cause: it names the field,
 * parameter or option and says what it must be. It never holds a key, a path of the source or a
 * statement of the database.
 */
export class PetstoreError extends Error {
  override readonly name = 'PetstoreError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string = ERRORS[code].message, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
