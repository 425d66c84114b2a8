/** Measures several contenders in turns, and the median, spread and ratio of their figures. */

/** How often and how long is measured. */
export interface Pace {
  readonly rounds: number;
  /** Of each turn. */
  readonly seconds: number;
  /** Before the first round; 0 for none. */
  readonly warmSeconds: number;
}

/** CPU is user and system time of all processes and threads of a server; ms the time of a start, or that 99 % of requests keep. */
export type Unit = 'CPU µs/request' | 'requests/s' | 'ms' | 'refused' | 'MiB';

/** What was measured in a turn. */
export type Sample = Readonly<Partial<Record<Unit, number>>>;

export interface Contender {
  readonly name: string;
  measure(seconds: number): Promise<Sample>;
}

/** The samples of each contender, in the order of the rounds. */
export type Figures = Readonly<Record<string, readonly Sample[]>>;

/** Measures each contender in each round. Every second round is in reverse order: the machine's speed drifts. */
export async function takeTurns(
  contenders: readonly Contender[],
  { rounds, seconds, warmSeconds }: Pace,
): Promise<Figures> {
  const figures: Record<string, Sample[]> = {};
  for (const { name, measure } of contenders) {
    figures[name] = [];
    if (warmSeconds > 0) await measure(warmSeconds);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, measure } of round % 2 === 0 ? contenders : contenders.toReversed()) {
      figures[name]?.push(await measure(seconds));
    }
  }
  return figures;
}

export function pick(samples: readonly Sample[] | undefined, unit: Unit): number[] {
  return (samples ?? []).map((sample) => sample[unit] ?? Number.NaN);
}

export function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = Number.NaN, high = low] = sorted.slice(
    Math.ceil(middle) - 1,
    Math.floor(middle) + 1,
  );
  return (low + high) / 2;
}

/** The difference between the greatest and the least, as a share of the median. */
export function spread(figures: readonly number[]): number {
  return (Math.max(...figures) - Math.min(...figures)) / median(figures);
}

/** The median of the ratios of each round: the two figures of a round were measured close together. */
export function ratio(figures: readonly number[], beside: readonly number[]): number {
  return median(figures.map((figure, round) => figure / (beside[round] ?? Number.NaN)));
}
