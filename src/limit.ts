/** A limit: a row of a table that the code and docs/limits.md read. Its name has the unit before `MAX`. */

export const KIB = 1_024;
export const MIB = 1_024 * KIB;

/** What happens at a limit, if the client may try again. */
export const TRY_LATER = '503 with `Retry-After`';

/** @param metric shows it, besides the metric of all refusals; empty without a metric. */
export function limit(value: number, of: string, then: string, metric = '') {
  return { value, of, then, metric };
}

export type Limit = Readonly<ReturnType<typeof limit>>;
