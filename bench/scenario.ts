/** What a work is: something that is measured and the bars that it has to take. Which there are is in works.ts. */

import type { Stores } from './datasets.ts';
import type { Figures, Pace } from './measure.ts';

export interface Bench {
  readonly stores: Stores;
  readonly pace: Pace;
}

export interface Work {
  /** As `--only` takes it. */
  readonly name: string;
  readonly title: string;
  readonly unit: 'requests/s' | 'ms' | 'MiB';
  readonly bars: readonly Bar[];
  run(bench: Bench): Promise<Figures>;
}

/** What the figure of a contender must be, by itself or as a share of another's. */
export interface Bar {
  readonly of: string;
  readonly beside?: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}
