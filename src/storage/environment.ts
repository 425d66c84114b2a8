/** The environment of a store: that of its first key which counts. */

import { badRequest } from '../error.ts';
import { describeAddress } from './address.ts';
import type { OpenOptions, Row } from './engine.ts';

/** If the first key is revoked, it does not count: it may have been made for the wrong environment. */
export const LIST_ENVIRONMENTS = `select environment, (select count(*) from api_keys), min(id)
  from api_keys where revoked_at is null or id > (select min(id) from api_keys) group by environment`;

/**
 * Warns about keys of both environments: older releases could make both.
 *
 * @param rows what LIST_ENVIRONMENTS found.
 * @throws PetstoreError `bad_request` if all keys are of the other environment.
 */
export function checkEnvironment(
  rows: readonly Row[],
  address: string,
  { environment, warn }: OpenOptions,
): void {
  const found = rows.map(([name]) => name);
  const [other, keys, id] = rows[0] ?? [];
  if (environment === undefined || other === undefined) return;
  if (!found.includes(environment)) {
    const takeBack = Number(keys) === 1 ? `, or revoke its only key (${id}) if it is wrong` : '';
    throw badRequest(
      `the store ${describeAddress(address)} is of ${other}, not of ${environment}: give --environment ${other}, or another --database, which petstore copy --environment ${environment} can make${takeBack}`,
    );
  }
  if (found.length === 1) return;
  warn?.(
    `the store has keys of both environments: petstore copy --environment ${environment} makes a store without the other keys`,
  );
}
