/** The scripts of package.json, and the suites, that CONTRIBUTING.md lists. */

import manifest from '../package.json' with { type: 'json' };
import { SUITES } from '../test/suites.ts';
import { toCode, toTable } from './markdown.ts';

/** The text of CONTRIBUTING.md, or the README, explains these scripts. */
type Explained = 'dev' | 'node' | 'petstore' | 'ready' | 'start' | 'suite' | 'test' | 'test:unit';

/** In the order of the table. */
const SCRIPTS: Readonly<Record<Exclude<keyof typeof manifest.scripts, Explained>, string>> = {
  fix: 'formats, applies safe fixes',
  generate: 'writes the generated files',
  check: 'format, lint, types, prose, generated files',
  build: 'packs the service and the client',
  conformance: 'the document: linters, Schemathesis, clients',
  bench: 'the speed beside others',
};

export function listScripts(): string {
  const suites = Object.entries(SUITES).flatMap(([name, { purpose }]) =>
    purpose === undefined ? [] : [[`suite ${name}`, purpose] as const],
  );
  const rows = [...Object.entries(SCRIPTS), ...suites];
  return toTable(
    ['`npm run`', 'for'],
    rows.map(([name, purpose]) => [toCode(name), purpose]),
  );
}
