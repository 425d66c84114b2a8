/** How many connections the limit of open files leaves, and what is said of it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Log } from '../../src/log.ts';
import { limitConnections } from '../../src/service/open-files.ts';
import type { ServeOptions } from '../../src/service/serve-options.ts';

for (const [soft, maxConnections, expected] of [
  // 64 files beside the connections, and 10 to PostgreSQL.
  ['124', 51, 50],
  ['124', 50, 50],
  ['74', 50, 1],
  ['unlimited', 50, 50],
] as const) {
  test(`limitConnections › ${maxConnections} connections, open files ${soft} › are ${expected}`, (t) => {
    const report = { userLimits: { open_files: { soft } } };
    t.mock.method(process.report, 'getReport', () => report);
    const warnings: string[] = [];
    const log = { warn: (_: unknown, text: string) => warnings.push(text) } as unknown as Log;
    const options = { maxConnections, databaseConnections: 10 } as ServeOptions;
    assert.equal(limitConnections(options, log), expected);
    assert.deepEqual(
      warnings.map((text) => text.split(':')[0]),
      expected < maxConnections
        ? [`the limit of open files leaves only ${expected} connections`]
        : [],
    );
  });
}
