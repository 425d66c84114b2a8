/** The picture of docs/performance.md, an SVG: the CPU time of a request, beside the limit and other servers. */

import { median, pick } from './measure.ts';
import type { Result } from './report.ts';

const UNIT = 'CPU µs/request';
/** The scenarios of the picture, and the heading of each. */
export const PICTURED: Readonly<Record<string, string>> = {
  list: 'List of 20 pets',
  get: 'Get one pet of 10,000',
  'create-64': 'Create, 64 clients (the other servers keep pets in memory only)',
};
const LABELS: Readonly<Record<string, string>> = {
  baseline: 'node:http alone (the limit)',
  petstore: 'petstore on SQLite',
};
/** Programs that only this bench has. */
const LEFT_OUT = ['naive'];

const WIDTH = 720;
const LABEL_WIDTH = 210;
const BAR_WIDTH_MAX = WIDTH - LABEL_WIDTH - 70;
const LINE = 22;
const STYLE = `text { font: 13px system-ui, sans-serif; fill: #1f2328 } .heading { font-weight: 600 }
  .other { fill: #8c959f } .ours { fill: #0969da }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .other { fill: #6e7681 } .ours { fill: #4493f8 }
  }`;

/** The picture. Throws an Error that names the first scenario of it that has no result. */
export function drawPicture(results: readonly Result[]): string {
  const groups = Object.entries(PICTURED).map(([name, heading]) => {
    const result = results.find((known) => known.name === name);
    if (result === undefined) throw new Error(`the picture needs the scenario ${name}`);
    const bars = Object.entries(result.figures)
      .filter(([contender]) => !LEFT_OUT.includes(contender))
      .map(([contender, samples]) => ({ contender, micros: median(pick(samples, UNIT)) }));
    return { heading, bars };
  });
  const most = Math.max(...groups.flatMap(({ bars }) => bars.map(({ micros }) => micros)));
  let y = 0;
  const lines = groups.flatMap(({ heading, bars }) => {
    y += 1.5 * LINE;
    return [
      `<text class="heading" x="0" y="${y}">${heading}</text>`,
      ...bars.map(({ contender, micros }) => {
        y += LINE;
        const kind = contender.startsWith('petstore') ? 'ours' : 'other';
        const width = Math.round((micros / most) * BAR_WIDTH_MAX);
        return `<text x="0" y="${y}">${LABELS[contender] ?? contender}</text>
<rect class="${kind}" x="${LABEL_WIDTH}" y="${y - 12}" width="${width}" height="15"/>
<text x="${LABEL_WIDTH + width + 6}" y="${y}">${Math.round(micros)} µs</text>`;
      }),
    ];
  });
  const height = Math.ceil(y + LINE);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">
<title>CPU time of a request in microseconds: less is better</title>
<style>${STYLE}</style>
${lines.join('\n')}
</svg>
`;
}
