/** A limit: a row of a table that the code and docs/limits.md read. Its name has the unit before `MAX`. */

export const KIB = 1_024;
export const MIB = 1_024 * KIB;

/** What happens at a limit, if the client may try again. */
export const TRY_LATER = '503 with `Retry-After`';

export interface Limit {
  readonly value: number;
  /** What it bounds. */
  readonly of: string;
  /** What happens at the limit. */
  readonly then: string;
  /** The metric that shows it, besides the metric of all refusals; empty without a metric. */
  readonly metric: string;
}

export function limit(value: number, of: string, then: string, metric = ''): Limit {
  return { value, of, then, metric };
}
