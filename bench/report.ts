/** The figures against their thresholds, as tables of Markdown and as JSON. */

import { type Figures, median, pick, ratio, spread, type Unit } from './measure.ts';
import type { Scenario, Threshold } from './scenario.ts';

/** A scenario with its figures. */
export interface Result {
  readonly name: string;
  readonly title: string;
  readonly unit: Unit;
  readonly figures: Figures;
  readonly thresholds: readonly Evaluated[];
}

interface Evaluated extends Threshold {
  readonly figure: number;
  readonly holds: boolean;
}

export function evaluate({ name, title, unit, thresholds }: Scenario, figures: Figures): Result {
  const evaluated = thresholds.map((threshold) => {
    const { of, beside, atLeast = 0, atMost = Number.POSITIVE_INFINITY } = threshold;
    const pickFrom = (name: string) => pick(figures[name], threshold.unit ?? unit);
    const own = pickFrom(of);
    const figure = beside === undefined ? median(own) : ratio(own, pickFrom(beside));
    return { ...threshold, figure, holds: figure >= atLeast && figure <= atMost };
  });
  return { name, title, unit, figures, thresholds: evaluated };
}

/** The scenario's two tables: its figures, those that are judged first, and its thresholds. */
export function toMarkdown({ name, title, unit, figures, thresholds }: Result): string {
  const [[firstName, first] = ['', []]] = Object.entries(figures);
  const others = (Object.keys(first[0] ?? {}) as Unit[]).filter((other) => other !== unit);
  const judged = pick(first, unit);
  const rows = Object.entries(figures).map(([contender, samples]) => {
    const own = pick(samples, unit);
    return [
      contender,
      round(median(own)),
      `${Math.round(100 * spread(own))} %`,
      // A contender that costs twice as much as the first has 0.5 of it.
      round(unit === 'requests/s' ? ratio(own, judged) : ratio(judged, own)),
      ...others.map((other) => round(median(pick(samples, other)))),
    ];
  });
  const evaluated = thresholds.map((threshold) => {
    const { of, beside, atLeast, atMost, figure, holds } = threshold;
    return [
      `${beside === undefined ? of : `${of} / ${beside}`}, ${threshold.unit ?? unit}`,
      round(figure),
      atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`,
      holds ? 'holds' : '**fails**',
    ];
  });
  return [
    `## ${title} (\`${name}\`)\n`,
    toTable(['', `${unit}, median`, 'spread', `of ${firstName}`, ...others], rows),
    ...(evaluated.length > 0 ? [toTable(['', 'is', 'threshold', ''], evaluated)] : []),
  ].join('\n');
}

function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ['---', ...head.slice(1).map(() => '--:')], ...rows];
  return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;
}

function round(figure: number): string {
  return figure >= 100 ? Math.round(figure).toLocaleString('en') : figure.toPrecision(3);
}
