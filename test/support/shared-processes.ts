/** Which test files share a process: to load the service, the stores and their drivers takes longer than many files. */

import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, matchesGlob } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = '.cache/tests';

interface Group {
  readonly files: string;
  /** How many processes they are dealt to, in turn. */
  readonly processes?: number;
}

/**
 * A file is of the first group that has it. They start in this order, those that last longest first, so
 * that all end at about the same time. A file that looks at the memory of its process, or changes its
 * environment for good, has one of its own.
 */
const GROUPS: Readonly<Record<string, Group>> = {
  'http-on-postgresql': { files: 'test/http-on-postgresql.test.ts' },
  workers: { files: 'test/e2e/workers.test.ts' },
  // It waits nearly all of its time.
  timeouts: { files: 'test/http/timeouts.test.ts' },
  sqlite: { files: 'test/storage/sqlite.test.ts' },
  e2e: { files: 'test/e2e/*.test.ts', processes: 4 },
  storage: { files: 'test/storage/*.test.ts' },
  contract: { files: 'test/storage/contract/*.test.ts' },
  leaks: { files: 'test/http/leaks.test.ts' },
  http: { files: 'test/http/*.test.ts', processes: 2 },
  cli: { files: 'test/cli/*.test.ts' },
  others: { files: '**' },
};

/** The files of each process, by its name. */
export function dealFiles(files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const left = new Set(files);
  const processes = new Map<string, string[]>();
  for (const [name, group] of Object.entries(GROUPS)) {
    const own = [...left].filter((file) => matchesGlob(file, group.files));
    for (const [index, file] of own.entries()) {
      left.delete(file);
      const process = `${name}-${(index % (group.processes ?? 1)) + 1}`;
      processes.set(process, [...(processes.get(process) ?? []), file]);
    }
  }
  return processes;
}

/**
 * Writes a file for each process, which runs those of the process, and returns these files. What ends a
 * process early is told by the name of its file, by which it can be run again.
 */
export function shareProcesses(suite: string, patterns: readonly string[]): string[] {
  const folder = join(ROOT, FOLDER, suite);
  mkdirSync(folder, { recursive: true });
  const processes = dealFiles(globSync(patterns, { cwd: ROOT }).sort());
  // The runner starts them by the order of their names.
  const modules = new Map(
    [...processes].map(([name, files], index) => [
      `${String(index + 1).padStart(2, '0')}-${name}.js`,
      toModule('../../../test/support/run-files.ts', files),
    ]),
  );
  for (const name of readdirSync(folder)) if (!modules.has(name)) rmSync(join(folder, name));
  for (const [name, text] of modules) {
    const path = join(folder, name);
    // Another run may be reading it.
    if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text);
  }
  return [...modules.keys()].map((name) => join(FOLDER, suite, name));
}

/** The text of a file that runs these. */
export function toModule(runFiles: string, files: readonly string[]): string {
  return [
    `import { describe } from 'node:test';`,
    `import { runFiles } from '${runFiles}';\n`,
    `const files = ${JSON.stringify(files, undefined, 2)};`,
    `await runFiles(files, (file, load) => describe(file, load));\n`,
  ].join('\n');
}
