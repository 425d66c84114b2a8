/** The scripts of package.json that CONTRIBUTING.md lists. */

import manifest from '../package.json' with { type: 'json' };
import { toCode, toTable } from './markdown.ts';

/** The text of CONTRIBUTING.md, or the README, explains these scripts. */
type Explained = 'dev' | 'fix' | 'node' | 'petstore' | 'start' | 'test' | 'test:unit';

/** In the order of the table. */
const SCRIPTS: Readonly<Record<Exclude<keyof typeof manifest.scripts, Explained>, string>> = {
  check: 'format, lint, types, prose, generated files',
  generate: 'writes the generated files',
  build: 'packs the service and the client',
  'test:browser': 'the pages',
  'test:firefox': 'the pages in Firefox',
  crash: '`kill -9`, a full disk, the order on the disk',
  fuzz: 'random bytes; before a release with `TEST_FUZZ_REQUESTS=1000000`',
  soak: 'memory growth; before a release with `TEST_SOAK_REQUESTS=10000000`',
  abuse: 'clients that attack the others',
  'abuse:small-packets': 'the same, in packets of 1,500 bytes',
  outages: 'PostgreSQL away, failing over, restarted',
  cluster: 'PostgreSQL under Patroni, with etcd and HAProxy',
  monitoring: 'the metrics in Prometheus',
  pooler: 'the tests through PgBouncer',
  litestream: 'a replica of SQLite',
  recipes: 'the clients to copy, the steps of a new field',
  runtimes: 'the client on other Nodes, Bun, Deno',
  proxies: 'idle connections of nginx, HAProxy, Caddy',
  conformance: 'the document: linters, Schemathesis, clients',
  bench: 'the speed beside others',
};

export function listScripts(): string {
  const rows = Object.entries(SCRIPTS).map(([name, purpose]) => [toCode(name), purpose]);
  return toTable(['`npm run`', 'for'], rows);
}
