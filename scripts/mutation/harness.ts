/**
 * The part of `node:test` that the tests use, in one process: a file is loaded again and again, and
 * each time only some of its tests are run. `node:test` itself runs whole files, each in a process.
 */

type Hook = () => unknown;
export type TestBody = (context: TestContext) => unknown;

interface TestContext {
  readonly name: string;
  readonly after: (hook: Hook) => void;
  readonly mock: { readonly timers: unknown };
}

export interface TestCase {
  readonly name: string;
  readonly body: TestBody;
  readonly suites: readonly Suite[];
}

class Suite {
  readonly before: Hook[] = [];
  readonly after: Hook[] = [];
  readonly beforeEach: Hook[] = [];
  readonly afterEach: Hook[] = [];
  isStarted = false;
}

/** The tests and hooks of one load of a file. */
export class LoadedFile {
  readonly tests: TestCase[] = [];
  readonly #pending: unknown[] = [];
  #open: readonly (readonly [name: string, suite: Suite])[] = [['', new Suite()]];

  get suite(): Suite {
    return (this.#open.at(-1) as readonly [string, Suite])[1];
  }

  addTest(name: string, body: TestBody): void {
    const names = [...this.#open.slice(1).map(([suite]) => suite), name];
    const full = names.join(' › ');
    const same = this.tests.filter((test) => test.name.replace(/ #\d+$/, '') === full).length;
    this.tests.push({
      name: same === 0 ? full : `${full} #${same + 1}`,
      body,
      suites: this.#open.map(([, suite]) => suite),
    });
  }

  addSuite(name: string, body: () => unknown): void {
    const outside = this.#open;
    this.#open = [...outside, [name, new Suite()]];
    this.#pending.push(body());
    this.#open = outside;
  }

  async load(url: string): Promise<void> {
    loading = this;
    await import(url);
    await Promise.all(this.#pending);
  }

  /** Rejects when the test fails, or lasts too long. */
  async runTest({ name, body, suites }: TestCase, msMax: number): Promise<void> {
    const hooks: Hook[] = [];
    const { mock } = process.getBuiltinModule('node:test');
    await withinLimit(msMax, async () => {
      for (const suite of suites) {
        if (suite.isStarted) continue;
        suite.isStarted = true;
        for (const hook of suite.before) await hook();
      }
      for (const suite of suites) for (const hook of suite.beforeEach) await hook();
      try {
        await body({ name, after: (hook) => hooks.push(hook), mock });
      } finally {
        mock.reset();
        for (const hook of hooks) await hook();
        for (const suite of suites) for (const hook of suite.afterEach) await hook();
      }
    });
  }

  async close(msMax: number): Promise<void> {
    const suites = new Set([this.suite, ...this.tests.flatMap((test) => test.suites)]);
    await withinLimit(msMax, async () => {
      for (const suite of [...suites].reverse()) {
        if (!suite.isStarted && suite !== this.suite) continue;
        for (const hook of suite.after) await hook();
      }
    });
  }
}

let loading: LoadedFile | undefined;

export function getLoading(): LoadedFile {
  if (loading === undefined) throw new Error('no test file is being loaded');
  return loading;
}

/** Rejects also with what is thrown meanwhile outside of any promise that is awaited. */
export async function withinLimit(msMax: number, work: () => Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`not done after ${msMax} ms`)), msMax);
  const fail = (error: unknown) => reject(error);
  process.on('uncaughtException', fail).on('unhandledRejection', fail);
  try {
    await Promise.race([work(), promise]);
  } finally {
    clearTimeout(timer);
    process.off('uncaughtException', fail).off('unhandledRejection', fail);
  }
}
