/**
 * Loaded first into each process and thread of mutation testing: `node:test` is replaced, and what
 * a test has started tells at its end which mutants its code has met.
 */

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';

/** The number of times that each mutant was met, by its id. */
export type Hits = Record<string, number>;

interface Instrumented {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: { readonly static: Hits; readonly perTest: Record<string, Hits> };
}

const shim = new URL('shim.ts', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'node:test' ? { url: shim, shortCircuit: true } : next(specifier, context),
});

/** What Stryker's instrumentation reads and writes. */
export const instrumented: Instrumented = {};
Object.assign(globalThis, { __stryker__: instrumented });

/** Where the threads and programs that a test starts write what they have met; set while that is collected. */
const folder = process.env.MUTATION_HITS;

if (folder !== undefined) {
  process.on('exit', () => {
    const hits = JSON.stringify(instrumented.mutantCoverage?.static ?? {});
    writeFileSync(join(folder, `${process.pid}-${threadId}.json`), hits);
  });
}

/** Runs the work; each thread and program that it starts tells what it has met. */
export async function collectHits<T>(work: (takeHits: () => Hits[]) => Promise<T>): Promise<T> {
  const into = mkdtempSync(join(tmpdir(), 'mutation-hits-'));
  const { NODE_OPTIONS } = process.env;
  process.env.MUTATION_HITS = into;
  process.env.NODE_OPTIONS = `--import=${import.meta.url}`;
  try {
    return await work(() => takeHits(into));
  } finally {
    delete process.env.MUTATION_HITS;
    delete process.env.NODE_OPTIONS;
    if (NODE_OPTIONS !== undefined) process.env.NODE_OPTIONS = NODE_OPTIONS;
    rmSync(into, { recursive: true });
  }
}

/** Those that were written since the last call. */
function takeHits(from: string): Hits[] {
  return readdirSync(from).map((name) => {
    const file = join(from, name);
    const hits = JSON.parse(readFileSync(file, 'utf8'));
    rmSync(file);
    return hits;
  });
}
