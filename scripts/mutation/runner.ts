/**
 * The test runner that Stryker loads: for each mutant it runs, in the process of Stryker's worker, the
 * single tests that reach it.
 */

import { globSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { LoadedFile, type TestCase, withinLimit } from './harness.ts';
import { collectHits, type Hits, instrumented } from './node-test.ts';

/** Loaded at once, so that what their code does then is not taken for the work of a test. */
const SOURCES = ['src/*.ts', 'src/http/**/*.ts', 'src/storage/**/!(writer-thread).ts'];
/** They need a server. */
const LEFT_OUT = /\bon postgresql\b/i;
/** A test that takes longer is left out: it would be run for hundreds of mutants. */
const TEST_MS_MAX = 1_200;
const MUTANT_TEST_MS_MAX = 5_000;
const CLOSE_MS_MAX = 5_000;

interface TestResult {
  readonly id: string;
  readonly name: string;
  readonly fileName: string;
  readonly timeSpentMs: number;
  readonly status: number;
  readonly failureMessage?: string;
}

const SUCCESS = 0;
const FAILED = 1;

class Runner {
  static readonly inject = ['options'];
  readonly #testFiles: readonly string[];
  #loads = 0;

  constructor(options: { readonly petstore: { readonly tests: readonly string[] } }) {
    this.#testFiles = options.petstore.tests;
  }

  capabilities() {
    return { reloadEnvironment: false };
  }

  async init() {
    // Whatever a mutant leaves behind must not end this process, or be taken for the next one's.
    process.on('uncaughtException', () => {}).on('unhandledRejection', () => {});
    for (const file of globSync(SOURCES)) await import(pathToFileURL(file).href);
  }

  dryRun() {
    return collectHits((takeHits) => this.#runAll(takeHits));
  }

  /** Every test once, and which mutants it meets. */
  async #runAll(takeHits: () => Hits[]) {
    const tests: TestResult[] = [];
    const perTest: Record<string, Hits> = {};
    for (const file of globSync(this.#testFiles).sort()) {
      const setUp = `${file} set up`;
      instrumented.currentTestId = setUp;
      const loaded = await this.#load(file, 60_000);
      const results: TestResult[] = [];
      for (const test of loaded.tests) {
        if (LEFT_OUT.test(test.name)) continue;
        instrumented.currentTestId = toId(file, test);
        const result = await runTest(loaded, file, test, 60_000);
        instrumented.currentTestId = setUp;
        const elsewhere = takeHits();
        if (result.timeSpentMs > TEST_MS_MAX) continue;
        addHits(perTest, result.id, ...elsewhere);
        results.push(result);
      }
      await loaded.close(60_000);
      addHits(perTest, setUp, ...takeHits());
      const covered = instrumented.mutantCoverage?.perTest ?? {};
      for (const { id } of results)
        addHits(perTest, id, covered[id], covered[setUp], perTest[setUp]);
      delete perTest[setUp];
      tests.push(...results);
    }
    instrumented.currentTestId = undefined;
    tests.sort((one, other) => one.timeSpentMs - other.timeSpentMs);
    const mutantCoverage = { static: instrumented.mutantCoverage?.static ?? {}, perTest };
    return { status: 'complete', tests, mutantCoverage };
  }

  async mutantRun(options: {
    readonly activeMutant: { readonly id: string };
    readonly testFilter?: readonly string[];
    readonly hitLimit?: number;
  }) {
    const wanted = Map.groupBy(options.testFilter ?? [], (id) => id.split(' › ')[0] as string);
    Object.assign(instrumented, { hitLimit: options.hitLimit, hitCount: 0 });
    instrumented.activeMutant = options.activeMutant.id;
    // Threads have a copy of the environment, and read it as they start.
    process.env.__STRYKER_ACTIVE_MUTANT__ = options.activeMutant.id;
    try {
      let nrOfTests = 0;
      for (const [file, ids] of wanted) {
        const results = await this.#runSome(file, new Set(ids));
        nrOfTests += results.length;
        if ((instrumented.hitCount ?? 0) > (options.hitLimit ?? Number.POSITIVE_INFINITY)) {
          return { status: 'timeout', reason: 'executed again and again' };
        }
        const failed = results.find(({ status }) => status === FAILED);
        if (failed === undefined) continue;
        const { id, failureMessage = '' } = failed;
        return { status: 'killed', killedBy: [id], failureMessage, nrOfTests };
      }
      return { status: 'survived', nrOfTests };
    } finally {
      instrumented.activeMutant = undefined;
      delete process.env.__STRYKER_ACTIVE_MUTANT__;
    }
  }

  /** Until the first failure. */
  async #runSome(file: string, ids: ReadonlySet<string>): Promise<TestResult[]> {
    const results: TestResult[] = [];
    const fail = (failureMessage: string) => {
      const [id = file] = ids;
      results.push({
        id,
        name: id,
        fileName: file,
        timeSpentMs: 0,
        status: FAILED,
        failureMessage,
      });
    };
    let loaded: LoadedFile | undefined;
    try {
      loaded = await this.#load(file, MUTANT_TEST_MS_MAX);
      for (const test of loaded.tests) {
        if (!ids.has(toId(file, test))) continue;
        const result = await runTest(loaded, file, test, MUTANT_TEST_MS_MAX);
        results.push(result);
        if (result.status === FAILED) break;
      }
    } catch (error) {
      fail(String(error));
    }
    await loaded?.close(CLOSE_MS_MAX).catch((error) => fail(String(error)));
    return results;
  }

  async #load(file: string, msMax: number): Promise<LoadedFile> {
    this.#loads += 1;
    const loaded = new LoadedFile();
    await withinLimit(msMax, () => loaded.load(`${pathToFileURL(file).href}?load=${this.#loads}`));
    return loaded;
  }
}

async function runTest(loaded: LoadedFile, file: string, test: TestCase, msMax: number) {
  const start = performance.now();
  const id = toId(file, test);
  const result = { id, name: id, fileName: file, status: SUCCESS };
  try {
    await loaded.runTest(test, msMax);
    return { ...result, timeSpentMs: performance.now() - start };
  } catch (error) {
    const failureMessage = String(error instanceof Error ? error.stack : error);
    return { ...result, status: FAILED, failureMessage, timeSpentMs: performance.now() - start };
  }
}

function toId(file: string, test: TestCase): string {
  return `${file} › ${test.name}`;
}

function addHits(
  to: Record<string, Hits>,
  id: string,
  ...all: readonly (Hits | undefined)[]
): void {
  to[id] ??= {};
  const sum = to[id];
  for (const hits of all) {
    for (const [mutant, count] of Object.entries(hits ?? {}))
      sum[mutant] = (sum[mutant] ?? 0) + count;
  }
}

export const strykerPlugins = [{ kind: 'TestRunner', name: 'petstore', injectableClass: Runner }];
