/** The errors that the petstore expects, each with a code that clients may rely on. */

/** The limits that messages name. */
export const BOUNDS = { bodyKib: 64, headKib: 16, headFields: 100, headSeconds: 10, seconds: 30 };

export const RETRY_AFTER_SECONDS = 1;

const RETRY = { 'retry-after': String(RETRY_AFTER_SECONDS) };
const CLOSE = { connection: 'close' };

interface ErrorRow {
  /** Several codes may share a status. */
  readonly status: number;
  readonly message: string;
  /** The header fields of its answer, in lower case; what refuses a request may set others in their place. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Clients switch on the code, so a code never changes. */
const ERROR_TABLE = {
  bad_request: { status: 400, message: 'the request is wrong: correct it before it is sent again' },
  unauthorized: {
    status: 401,
    message: 'a valid API key is required: send it as Authorization: Bearer <API_KEY>',
    headers: { 'www-authenticate': 'Bearer realm="petstore", error="invalid_token"' },
  },
  forbidden: { status: 403, message: 'this API key is read-only: use a key that may write' },
  not_found: { status: 404, message: 'there is no pet with this petId' },
  method_not_allowed: {
    status: 405,
    message: 'this path does not take this method: Allow lists its methods',
  },
  request_timeout: {
    status: 408,
    message: `the request must arrive within ${BOUNDS.seconds} s, its headers within ${BOUNDS.headSeconds} s`,
    headers: CLOSE,
  },
  conflict: { status: 409, message: 'the pet was changed or removed meanwhile: read it again' },
  gone: { status: 410, message: 'this operation was removed: use GET /v1/pets instead' },
  payload_too_large: {
    status: 413,
    message: `the body must be at most ${BOUNDS.bodyKib} KiB`,
    headers: CLOSE,
  },
  unsupported_media_type: {
    status: 415,
    message:
      'Content-Type must be application/json, with no parameter but charset=utf-8 (with curl: -H "Content-Type: application/json")',
  },
  idempotency_key_reused: {
    status: 422,
    message: 'this Idempotency-Key was sent before with another pet: send a new key',
  },
  rate_limited: {
    status: 429,
    message: 'this key has sent too many requests: try again when Retry-After says',
    headers: RETRY,
  },
  headers_too_large: {
    status: 431,
    message: `the request line and headers must be at most ${BOUNDS.headKib} KiB, in ${BOUNDS.headFields} fields`,
    headers: CLOSE,
  },
  internal_error: {
    status: 500,
    message: 'the service failed to answer; the X-Request-Id names this request in its log',
  },
  unavailable: {
    status: 503,
    message:
      'the service cannot answer now: try again when Retry-After says, a POST only with its Idempotency-Key',
    headers: RETRY,
  },
} satisfies Readonly<Record<string, ErrorRow>>;

export type ErrorCode = keyof typeof ERROR_TABLE;
export const ERRORS: Readonly<Record<ErrorCode, ErrorRow>> = ERROR_TABLE;

export const IDEMPOTENT_PET_REMOVED =
  'the pet of this Idempotency-Key was removed: send a new key to add it again';

/**
 * An expected error. Its message is for the person who can fix the cause: it names the field, parameter or option, and
 * says what it must be. It never holds a key, a path of the source or a statement of the database.
 */
export class PetstoreError extends Error {
  override readonly name = 'PetstoreError';
  readonly code: ErrorCode;
  /** Whether the work may be done all the same: the answer to its commit is lost. */
  isUnsure: boolean;

  constructor(code: ErrorCode, message: string = ERRORS[code].message, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.isUnsure = options?.cause instanceof PetstoreError && options.cause.isUnsure;
  }
}

export function badRequest(message: string, options?: ErrorOptions): PetstoreError {
  return new PetstoreError('bad_request', message, options);
}

export function unavailable(message: string, options?: ErrorOptions): PetstoreError {
  return new PetstoreError('unavailable', message, options);
}

/** A value for a message, without the end of a long one. */
export function cut(value: string): string {
  return value.length > 40 ? `${value.slice(0, 40).toWellFormed()}…` : value;
}
