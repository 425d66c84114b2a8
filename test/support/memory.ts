/** The memory of a running program, and whether it stays the same. Needs Linux. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { RunningProgram } from './program.ts';
import { until } from './until.ts';

/** A program that starts with these NODE_OPTIONS can be given to {@link measureMemory}. */
export const MEASURABLE = `--expose-gc --import=${new URL('report-heap.ts', import.meta.url)}`;

const HEAP_LINE = /heap: (\d+)\n/;
const MIB = 1024 * 1024;

export interface Memory {
  readonly rssMib: number;
  /** What is reachable: it is measured after a collection. */
  readonly heapMib: number;
}

/** What the process has in physical memory. */
export function readRssMib(pid: number | undefined): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}

/** Measures it now; what the program writes for that is taken out of its output again. */
export async function measureMemory({ process, output }: RunningProgram): Promise<Memory> {
  process.kill('SIGUSR2');
  await until(() => HEAP_LINE.test(output.stderr));
  const [line = '', bytes] = HEAP_LINE.exec(output.stderr) ?? [];
  output.stderr = output.stderr.replace(line, '');
  return { rssMib: readRssMib(process.pid), heapMib: Number(bytes) / MIB };
}

/** How much they may differ: the heap hardly does, while V8 takes more of the memory for a long time. */
const HEAP_MIB_MAX = 3;
const RSS_MIB_MAX = 100;

/**
 * Asserts that the median of the last quarter is not above that of the second. In the first quarter
 * code is compiled and caches are filled. A leak grows with the length of the run, what is allowed does not.
 */
export function assertFlat(memory: readonly Memory[]): void {
  for (const [what, mibMax] of [
    ['heapMib', HEAP_MIB_MAX],
    ['rssMib', RSS_MIB_MAX],
  ] as const) {
    const values = memory.map((measured) => measured[what]);
    const quarter = Math.floor(values.length / 4);
    const before = median(values.slice(quarter, 2 * quarter));
    const last = median(values.slice(-quarter));
    const all = values.map((value) => value.toFixed(1));
    assert.ok(last <= before + mibMax, `${what} grew from ${before} to ${last}: ${all}`);
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
