/** The environment of a store: its first key decides it, since no key is ever removed. */

import type { Environment } from '../api-key.ts';
import { PetstoreError } from '../error.ts';
import { describeAddress } from '../storage/address.ts';
import type { Store } from '../store.ts';

interface Use {
  readonly database: string;
  readonly environment: Environment;
}

/**
 * Resolves to whether the store has keys of both environments, as older releases could make them.
 *
 * @throws PetstoreError `bad_request` when it has only keys of the other environment.
 */
export async function checkEnvironment(
  { keys }: Store,
  { database, environment }: Use,
): Promise<boolean> {
  const found = new Set((await keys.list()).map((key) => key.environment));
  if (found.size === 0 || found.has(environment)) return found.size > 1;
  const [other] = found;
  throw new PetstoreError(
    'bad_request',
    `the store ${describeAddress(database)} is of ${other}, not of ${environment}: name another store with --database, or give --environment ${other}; petstore copy --environment ${environment} makes a store of ${environment} with its pets`,
  );
}
