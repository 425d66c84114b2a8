/** The table of the suites of tests. The files of each are found by their endings. */

export interface Suite {
  readonly files: readonly string[];
  /** In CONTRIBUTING. `npm test`, `npm run test:unit` and `.ci/package` run those without it. */
  readonly purpose?: string;
  /** Of a test. */
  readonly minutesMax?: number;
  /** How many files run at the same time; by default one. */
  readonly concurrency?: number;
  /** Whether one PostgreSQL server is started for all files. */
  readonly hasServer?: boolean;
  /** A command that runs the suite, which is its arguments. */
  readonly beneath?: readonly string[];
}

const UNIT = [
  'test/!(http-on-postgresql).test.ts',
  'test/storage/{address,group-commit,page-cache}.test.ts',
];

const ABUSE = { files: ['test/abuse/*.abuse.ts'], hasServer: true };
const SMALL_PACKETS = [
  'unshare',
  '--net',
  'sh',
  '-c',
  'ip link set lo mtu 1500 up && exec "$@"',
  'sh',
];

export const SUITES: Readonly<Record<string, Suite>> = {
  // Some of its files wait.
  all: { files: ['test/**/*.test.ts'], minutesMax: 5, concurrency: 8, hasServer: true },
  unit: { files: UNIT, minutesMax: 5, concurrency: 3 },
  package: { files: ['test/package/*.package.ts'], hasServer: true },
  browser: { files: ['test/browser/*.browser.ts'], purpose: 'the pages', concurrency: 2 },
  firefox: { files: ['test/browser/*.firefox.ts'], purpose: 'the pages in Firefox' },
  crash: {
    files: ['test/durability/*.durability.ts'],
    purpose: '`kill -9`, a full disk, the order on the disk',
    hasServer: true,
  },
  fuzz: {
    files: ['test/fuzz/*.fuzz.ts'],
    purpose: 'random bytes; before a release with `TEST_FUZZ_REQUESTS=1000000`',
    minutesMax: 60,
  },
  soak: {
    files: ['test/fuzz/*.soak.ts'],
    purpose: 'memory growth; before a release with `TEST_SOAK_REQUESTS=10000000`',
    minutesMax: 120,
  },
  abuse: { ...ABUSE, purpose: 'clients that attack the others' },
  'small-packets': {
    ...ABUSE,
    purpose: 'the same, in packets of 1,500 bytes',
    beneath: SMALL_PACKETS,
  },
  outages: {
    files: ['test/outages/*.outage.ts'],
    purpose: 'PostgreSQL away, failing over, restarted',
    hasServer: true,
  },
  cluster: {
    files: ['test/cluster/*.cluster.ts'],
    purpose: 'PostgreSQL under Patroni, with etcd and HAProxy',
  },
  monitoring: {
    files: ['test/monitoring/*.monitoring.ts'],
    purpose: 'the metrics in Prometheus',
    hasServer: true,
  },
  pooler: {
    files: ['test/pooler/*.pooler.ts'],
    purpose: 'the tests through PgBouncer',
    concurrency: 2,
    hasServer: true,
  },
  litestream: { files: ['test/litestream/*.litestream.ts'], purpose: 'a replica of SQLite' },
  recipes: {
    files: ['test/recipes/*.recipe.ts'],
    purpose: 'the commands of the pages, the clients to copy, the steps of a new field',
    hasServer: true,
  },
  runtimes: {
    files: ['test/client/*.runtime.ts'],
    purpose: 'the client on other Nodes, Bun, Deno',
  },
  proxies: {
    files: ['test/proxies/*.proxy.ts'],
    purpose: 'idle connections of nginx, HAProxy, Caddy, Envoy',
  },
};
