/** A scenario: something that is measured, and the thresholds that its figures must keep. */

import type { Datasets } from './datasets.ts';
import type { Figures, Pace, Unit } from './measure.ts';

export interface Bench {
  readonly datasets: Datasets;
  readonly pace: Pace;
}

export interface Scenario {
  /** As `--only` takes it. */
  readonly name: string;
  readonly title: string;
  /** Of the figure that is judged. */
  readonly unit: Unit;
  readonly thresholds: readonly Threshold[];
  run(bench: Bench): Promise<Figures>;
}

/** What a contender's figure must be, by itself or as a ratio to another's. */
export interface Threshold {
  readonly of: string;
  readonly beside?: string;
  /** When it is not the scenario's. */
  readonly unit?: Unit;
  readonly atLeast?: number;
  readonly atMost?: number;
}
