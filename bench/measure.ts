/** Figures of several contenders, in turns, and what they come to; what they do is not known here. */

/** How long it all takes. */
export interface Pace {
  readonly rounds: number;
  /** Of each turn. */
  readonly seconds: number;
  /** Before the first round; 0 for none. */
  readonly warmSeconds: number;
}

export interface Contender {
  readonly name: string;
  measure(seconds: number): Promise<number>;
}

/** The figures of each, in the order of the rounds. */
export type Figures = Readonly<Record<string, readonly number[]>>;

/** Measures each in each round, and the other way round in every second one: the machine drifts. */
export async function takeTurns(
  contenders: readonly Contender[],
  { rounds, seconds, warmSeconds }: Pace,
): Promise<Figures> {
  const figures: Record<string, number[]> = {};
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

export function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = Number.NaN, high = low] = sorted.slice(
    Math.ceil(middle) - 1,
    Math.floor(middle) + 1,
  );
  return (low + high) / 2;
}

/** From the least to the most, as a share of the median. */
export function spread(figures: readonly number[]): number {
  return (Math.max(...figures) - Math.min(...figures)) / median(figures);
}

/** The median of the ratios of each round, whose two figures met the same machine. */
export function ratio(figures: readonly number[], beside: readonly number[]): number {
  return median(figures.map((figure, round) => figure / (beside[round] ?? Number.NaN)));
}
