/** The metrics of the real program, at its admin listener. */

import assert from 'node:assert/strict';
import type { RunningProgram } from './program.ts';

/** The address that the start tells. */
export function getAdmin(service: RunningProgram): string {
  const start = service.output.stdout + service.output.stderr;
  const [, url] = /metrics"?[:\s]+"?(http:\S+)\/metrics/.exec(start) ?? [];
  assert.ok(url, start);
  return url;
}

export async function readMetrics(service: RunningProgram): Promise<string> {
  const answer = await fetch(`${getAdmin(service)}/metrics`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  return answer.text();
}

/** The sum of all series of that name whose labels include these; there is at least one. */
export function sum(metrics: string, name: string, ...labels: string[]): number {
  const values = metrics
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .filter((line) => labels.every((label) => line.includes(label)))
    .map((line) => Number(line.slice(line.lastIndexOf(' '))));
  assert.ok(values.length > 0, `${name} ${labels}`);
  return values.reduce((total, value) => total + value, 0);
}
