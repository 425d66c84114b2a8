/** The fields, query of a list and error codes of the service. `npm run generate` writes this file. */

export type PetStatus = 'available' | 'pending' | 'sold';

export interface NewPetFields<Integer> {
  /** The animal's name, kept as it was sent: 1 to 255 code points, not blank, without U+0000 and unpaired surrogates. */
  readonly name: string;
  /** Identifier of the category the animal belongs to; exact over all of int64. */
  readonly categoryId: Integer;
  /** Whether the pet can be bought. */
  readonly status?: PetStatus;
}

export interface PetFields<Integer> extends NewPetFields<Integer> {
  readonly id: Integer;
}

export interface ListQuery {
  /** Maximum number of animals to return. */
  readonly limit?: number | undefined;
  /** Filters by availability status. */
  readonly status?: PetStatus | undefined;
}

export const FIELD_KINDS = {
  id: 'int64',
  name: 'text',
  categoryId: 'int64',
  status: 'text',
} as const;

export type ErrorCode =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'conflict'
  | 'gone'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'idempotency_key_reused'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal_error'
  | 'unavailable';
