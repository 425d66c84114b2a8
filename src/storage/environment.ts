/** The environment of a store: the environment of its first key. */

import { PetstoreError } from '../error.ts';
import { describeAddress } from './address.ts';
import type { OpenOptions, Row } from './engine.ts';

export const LIST_ENVIRONMENTS = 'select distinct environment from api_keys';

/**
 * Warns about keys of both environments: older releases could make both.
 *
 * @param rows what LIST_ENVIRONMENTS found. It also finds keys that were revoked: no key is ever removed.
 * @throws PetstoreError `bad_request` if all keys are of the other environment.
 */
export function checkEnvironment(
  rows: readonly Row[],
  address: string,
  { environment, warn }: OpenOptions,
): void {
  const found = rows.map(([name]) => name);
  const [other] = found;
  if (environment === undefined || other === undefined) return;
  if (!found.includes(environment)) {
    throw new PetstoreError(
      'bad_request',
      `the store ${describeAddress(address)} is of ${other}, not of ${environment}: give --environment ${other}, or another --database, which petstore copy --environment ${environment} can make`,
    );
  }
  if (found.length === 1) return;
  warn?.(
    `the store has keys of both environments: petstore copy --environment ${environment} makes a store without the other keys`,
  );
}
