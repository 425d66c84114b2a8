/** The opaque `cursor` of the list's next page: the id of the last animal, in a form nobody counts on. */

import { PetstoreError } from '../error.ts';
import { INT64_MAX } from '../int64.ts';

/** The cursor that carries on after the animal with this id. */
export function createCursor(after: bigint): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(after);
  return bytes.toString('base64url');
}

/**
 * The id in a cursor.
 *
 * @throws PetstoreError `bad_request` for any text that {@link createCursor} does not make.
 */
export function parseCursor(cursor: unknown): bigint {
  if (typeof cursor === 'string') {
    const bytes = Buffer.from(cursor, 'base64url');
    const after = bytes.length === 8 ? bytes.readBigInt64BE() : 0n;
    if (after > 0n && after <= INT64_MAX && createCursor(after) === cursor) return after;
  }
  throw new PetstoreError(
    'bad_request',
    'cursor must be one that a Link of this service gave, unchanged',
  );
}
