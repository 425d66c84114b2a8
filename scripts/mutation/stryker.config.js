/** What Stryker does for one part of `src/`, which MUTATION_PART names. */

const PARTS = {
  root: {
    mutate: ['src/*.ts'],
    tests: ['test/{api-key,console-csv,int64,json,pet}.test.ts', 'test/cli/pet-file.test.ts'],
  },
  http: { mutate: ['src/http/**/*.ts'], tests: ['test/http/!(timeouts).test.ts'] },
  // The engine on PostgreSQL needs a server, and `copy` both engines; a thread that is terminated does not tell what it met.
  storage: {
    mutate: [
      'src/storage/**/*.ts',
      '!src/storage/postgres/**',
      '!src/storage/copy.ts',
      '!src/storage/sqlite/writer-thread.ts',
    ],
    tests: ['test/storage/!(postgres*|copy).test.ts', 'test/storage/contract/*.test.ts'],
  },
};

const part = process.env.MUTATION_PART;
const { mutate, tests } = PARTS[part];
const folder = `.cache/mutation/${part}`;

export default {
  plugins: ['./scripts/mutation/runner.ts'],
  testRunner: 'petstore',
  testRunnerNodeArgs: [`--import=${new URL('node-test.ts', import.meta.url)}`],
  petstore: { tests },
  warnings: { unknownOptions: false },
  mutate,
  coverageAnalysis: 'perTest',
  // What only runs while a module is loaded would need a new process and all tests, for each mutant.
  ignoreStatic: true,
  incremental: true,
  incrementalFile: `${folder}/incremental.json`,
  // Without tsconfig.json, for which Stryker would need the API that TypeScript 7 does not have.
  ignorePatterns: [
    '**',
    '!src/**',
    '!test/**',
    '!docs/**',
    '!*.md',
    '!package.json',
    '!openapi.json',
  ],
  disableTypeChecks: false,
  tempDirName: `${folder}/sandbox`,
  dryRunTimeoutMinutes: 30,
  maxTestRunnerReuse: 100,
  timeoutMS: 10_000,
  timeoutFactor: 3,
  reporters: ['clear-text', 'html', 'json'],
  clearTextReporter: { allowColor: false, reportTests: false },
  htmlReporter: { fileName: `${folder}/report.html` },
  jsonReporter: { fileName: `${folder}/report.json` },
  thresholds: { high: 95, low: 85, break: 85 },
};
