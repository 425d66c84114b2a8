/** The figures against their thresholds, as tables of Markdown and as JSON. */

import type { Figures } from './measure.ts';
import { median, ratio, spread } from './measure.ts';
import type { Scenario, Threshold } from './scenario.ts';

/** A scenario with its figures. */
export interface Result {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
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
    const own = figures[of] ?? [];
    const figure = beside === undefined ? median(own) : ratio(own, figures[beside] ?? []);
    return { ...threshold, figure, holds: figure >= atLeast && figure <= atMost };
  });
  return { name, title, unit, figures, thresholds: evaluated };
}

/** The scenario's two tables: its figures, and its thresholds. */
export function toMarkdown({ name, title, unit, figures, thresholds }: Result): string {
  const [[firstName, first] = ['', []]] = Object.entries(figures);
  const rows = Object.entries(figures).map(([contender, own]) => [
    contender,
    round(median(own)),
    `${Math.round(100 * spread(own))} %`,
    round(ratio(own, first)),
  ]);
  const evaluated = thresholds.map(({ of, beside, atLeast, atMost, figure, holds }) => [
    beside === undefined ? of : `${of} / ${beside}`,
    round(figure),
    atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`,
    holds ? 'holds' : '**fails**',
  ]);
  return [
    `## ${title} (\`${name}\`)\n`,
    toTable(['', `${unit}, median`, 'spread', `of ${firstName}`], rows),
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
