/** Who may import whom in src/, type imports included, that no imports of src/ or bench/ form a circle, and what stands in several places. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { test } from 'node:test';
import manifest from '../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '..');

/** An import, export-from or import() with its clause, and a file that is started as a thread. */
const IMPORTS = [
  /^\s*(?:import|export)\s(?<clause>[^;'"]*?)\sfrom\s+'(?<from>[^']+)'/gm,
  /^\s*import\s+'(?<from>[^']+)'/gm,
  /\bimport\(\s*'(?<from>[^']+)'/g,
  /\bnew URL\(\s*'(?<from>\.[^']*)',\s*import\.meta\.url/g,
];

/** A way to import that the expressions above would not see. */
const HIDDEN_IMPORT = /\bimport\(\s*[^\s']|\brequire\(|\bcreateRequire\b|\bimport\.meta\.resolve\b/;

/** Block comments that begin a line, and line comments: a `//` within a string has no space before. */
const COMMENTS = /^\s*\/\*[\s\S]*?\*\/|(?:^|\s)\/\/\s.*$/gm;

const DRIVERS = /^(?:node:sqlite|pg(?:-.*)?)$/;
const FRAMEWORK = /^(?:@?fastify|@scalar|node:http)/;

/**
 * For each folder, what its files may import; a folder that is not listed follows the one that it is
 * in. `target` is a path from src/, or the name of a package.
 */
const RULES: Readonly<Record<string, (target: string, file: string) => boolean>> = {
  '': (target) => isRoot(target) || target === 'node:crypto' || target === 'node:zlib',
  http: (target, file) =>
    isRoot(target) ||
    isIn('http', target) ||
    (file === 'http/app.ts' && target === 'service/options.ts') ||
    isPackage(target, DRIVERS) ||
    target === '../package.json',
  'http/protocol': (target) =>
    RULES.http?.(target, '') === true &&
    !isIn('http/routes', target) &&
    !isIn('http/operations', target) &&
    !isIn('http/hooks', target) &&
    !/^(?:store|pet)\.ts$/.test(target),
  storage: (target, file) =>
    isRoot(target) ||
    isPackage(target, FRAMEWORK) ||
    (file === 'storage/open.ts'
      ? isIn('storage', target)
      : isIn('storage', target) && !isEngine(target)),
  'storage/sqlite': (target) =>
    isRoot(target) ||
    isPackage(target, FRAMEWORK) ||
    (isIn('storage', target) && !isIn('storage/postgres', target)),
  'storage/postgres': (target) =>
    isRoot(target) ||
    isPackage(target, FRAMEWORK) ||
    (isIn('storage', target) && !isIn('storage/sqlite', target)),
  service: (target) => !isIn('cli', target),
  client: isBrowserFile,
  console: (target) => /^(?:client|console)\//.test(target) || isBrowserFile(target),
  cli: () => true,
  'cli/commands': (target) => !isIn('cli/commands', target),
};

const sources = readSources('src');
const benchSources = readSources('bench');
const imports = sources.flatMap(findImports);

function readSources(folder: string) {
  return globSync('**/*.ts', { cwd: join(ROOT, folder) }).map((found) => {
    const file = found.replaceAll('\\', '/');
    const text = readFileSync(join(ROOT, folder, file), 'utf8');
    return { file, text, code: text.replace(COMMENTS, '') };
  });
}

function findImports({ file, code }: { file: string; code: string }) {
  return IMPORTS.flatMap((pattern) => [...code.matchAll(pattern)]).map(({ groups = {} }) => {
    const { from = '', clause = '' } = groups;
    const target = from.startsWith('.') ? posix.join(posix.dirname(file), from) : from;
    return { file, from, clause, target, line: `${file} imports ${from}` };
  });
}

function isRoot(target: string): boolean {
  return /^[^/:@.]+\.ts$/.test(target);
}

/** Of the root, what a browser can load, too. */
function isBrowserFile(target: string): boolean {
  return /^(?:pet|rows|csv|error|json|int64)\.ts$/.test(target);
}

function isIn(folder: string, target: string): boolean {
  return target.startsWith(`${folder}/`);
}

function isEngine(target: string): boolean {
  return isIn('storage/sqlite', target) || isIn('storage/postgres', target);
}

function isPackage(target: string, except: RegExp): boolean {
  return !target.endsWith('.ts') && !target.startsWith('..') && !except.test(target);
}

/** The rule of the innermost folder that has one. */
function isAllowed(file: string, target: string): boolean {
  let folder = posix.dirname(file);
  while (folder !== '.' && !Object.hasOwn(RULES, folder)) folder = posix.dirname(folder);
  return RULES[folder === '.' ? '' : folder]?.(target, file) === true;
}

/** The files of the first circle of imports, in order; empty when there is none. */
function findCircle(files: readonly { file: string; code: string }[]): string[] {
  const targets = new Map(
    files.map((source) => [source.file, findImports(source).map(({ target }) => target)]),
  );
  const done = new Set<string>();
  function visit(file: string, path: readonly string[]): string[] {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const target of targets.get(file) ?? []) {
      const circle = visit(target, [...path, file]);
      if (circle.length > 0) return circle;
    }
    done.add(file);
    return [];
  }
  for (const { file } of files) {
    const circle = visit(file, []);
    if (circle.length > 0) return circle;
  }
  return [];
}

function filesWhose(pattern: RegExp, where: (file: string) => boolean = () => true): string[] {
  const found = sources.filter(({ file, code }) => where(file) && pattern.test(code));
  return found.map(({ file }) => file);
}

test('src › read by this test › has files whose imports are seen', () => {
  assert.ok(imports.some(({ line }) => line === 'pet.ts imports ./json.ts'));
  assert.ok(imports.some(({ target }) => target === 'storage/postgres/engine.ts'));
  assert.deepEqual(filesWhose(HIDDEN_IMPORT), []);
});

test('src › each folder › is the root or one of client, console, http, storage, service and cli', () => {
  const folders = new Set(sources.map(({ file }) => file.split('/').slice(0, -1)[0] ?? ''));
  assert.deepEqual([...folders].sort(), [
    '',
    'cli',
    'client',
    'console',
    'http',
    'service',
    'storage',
  ]);
});

test('src › each import › is one that the rules allow', () => {
  const forbidden = imports.filter(({ file, target }) => !isAllowed(file, target));
  assert.deepEqual(
    forbidden.map(({ line }) => line),
    [],
  );
});

test('src › node:http, and the options by the application › are imported for their types alone', () => {
  const wrong = imports.filter(
    ({ file, from, target, clause }) =>
      (from === 'node:http' || (file === 'http/app.ts' && target === 'service/options.ts')) &&
      !/^type\b/.test(clause),
  );
  assert.deepEqual(
    wrong.map(({ line }) => line),
    [],
  );
});

for (const [file, target] of [
  ['pet.ts', 'http/errors.ts'],
  ['pet.ts', 'node:fs'],
  ['http/app.ts', 'storage/open.ts'],
  ['http/app.ts', 'pg'],
  ['http/app.ts', 'service/serve.ts'],
  ['http/errors.ts', 'service/options.ts'],
  ['http/protocol/body.ts', 'http/operations/operations.ts'],
  ['http/protocol/body.ts', 'store.ts'],
  ['storage/copy.ts', 'http/errors.ts'],
  ['storage/copy.ts', 'fastify'],
  ['storage/backup.ts', 'storage/sqlite/engine.ts'],
  ['storage/sqlite/engine.ts', 'storage/postgres/engine.ts'],
  ['storage/postgres/engine.ts', 'storage/sqlite/engine.ts'],
  ['service/serve.ts', 'cli/options.ts'],
  ['cli/commands/pets.ts', 'cli/commands/import-pets.ts'],
  ['client/petstore-client.ts', 'api-key.ts'],
  ['client/petstore-client.ts', 'http/errors.ts'],
  ['client/petstore-client.ts', 'console/page.ts'],
  ['console/main.ts', 'api-key.ts'],
  ['console/main.ts', 'http/errors.ts'],
  ['http/routes/console.ts', 'console/main.ts'],
] as const) {
  test(`the rules › ${file} importing ${target} › is not allowed`, () => {
    assert.equal(isAllowed(file, target), false);
  });
}

for (const [folder, files] of Object.entries({ src: sources, bench: benchSources })) {
  test(`${folder} › all imports, of types too › form no circle`, () => {
    assert.deepEqual(findCircle(files), []);
  });
}

test('findCircle › three files in a circle beside others › is that circle', () => {
  const files = Object.entries({ a: 'b', b: 'c', c: 'd', d: 'b' }).map(([file, target]) => ({
    file: `${file}.ts`,
    code: `import type { X } from './${target}.ts';`,
  }));
  assert.deepEqual(findCircle(files), ['b.ts', 'c.ts', 'd.ts', 'b.ts']);
});

test('src › each package that is imported › is a dependency of package.json', () => {
  const packages = imports.filter(({ from }) => !/^(?:\.|node:)/.test(from));
  const undeclared = packages.filter(({ from }) => {
    const name = from.split('/', from.startsWith('@') ? 2 : 1).join('/');
    return !Object.hasOwn(manifest.dependencies, name);
  });
  assert.deepEqual(
    undeclared.map(({ line }) => line),
    [],
  );
});

test('client and console › the files that they load › import nothing of Node', () => {
  const files = new Set(['client/petstore-client.ts', 'console/main.ts']);
  for (const file of files) {
    for (const { target } of imports.filter((each) => each.file === file)) files.add(target);
  }
  assert.ok(files.has('json.ts') && files.has('csv.ts'));
  assert.deepEqual(
    [...files].filter((file) => file.startsWith('node:')),
    [],
  );
});

test('the root of src › node:zlib › is imported for crc32 alone', () => {
  const zlib = imports.filter(({ file, from }) => isRoot(file) && from === 'node:zlib');
  assert.deepEqual(
    zlib.filter(({ clause }) => clause !== '{ crc32 }').map(({ line }) => line),
    [],
  );
});

test('the root of src › process › is not used', () => {
  assert.deepEqual(filesWhose(/\bprocess\b/, isRoot), []);
});

test('src › process.env › is read by cli/variables.ts alone', () => {
  const readers = filesWhose(
    /\bprocess\s*(?:\?\.|\.|\[)\s*['"]?env\b|\benv\b[^;]*(?:=\s*process\b|'node:process')/,
  );
  assert.deepEqual(
    readers.filter((file) => file !== 'cli/variables.ts'),
    [],
  );
});

// Neither file may import anything before it has looked: an older Node could not.
test('the oldest Node › in the launcher and in the command › is that of engines', () => {
  const majors = ['runtime/node.cjs', 'src/cli/bin.ts'].map((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    return /^const MAJOR_MIN = (\d+);$/m.exec(text)?.[1];
  });
  const oldest = manifest.engines.node.replace('>=', '');
  assert.deepEqual(majors, [oldest, oldest]);
});

for (const { file, text } of sources) {
  test(`src/${file} › its first line › says in a sentence what it is`, () => {
    const [first] = text.replace(/^#!.*\n/, '').split('\n');
    assert.match(first ?? '', /^\/\*\* [A-Z`].*\. \*\/$/);
  });
}
