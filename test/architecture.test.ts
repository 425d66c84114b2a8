/** Who may import whom in src/, read from the import lines themselves; what the code does is not tested here. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { test } from 'node:test';
import manifest from '../package.json' with { type: 'json' };

const SRC = join(import.meta.dirname, '../src');

/** An import, export-from or import() with its clause, and a file that is run beside (a worker). */
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

/** A folder of src/, or the root. */
type World = 'root' | 'http' | 'storage' | 'service' | 'cli';

/** What the files of each world may import beside their own world; packages by their names. */
const MAY_IMPORT: Readonly<Record<World, (target: string) => boolean>> = {
  root: (target) => target === 'node:crypto' || target === 'node:zlib',
  http: (target) => target === 'root' || (isLibrary(target) && !isDatabase(target)),
  storage: (target) => target === 'root' || (isLibrary(target) && !isFramework(target)),
  service: () => true,
  cli: () => true,
};

const sources = globSync('**/*.ts', { cwd: SRC }).map((file) => {
  const text = readFileSync(join(SRC, file), 'utf8');
  const path = file.replaceAll('\\', '/');
  return { file: path, world: worldOf(path), text, code: text.replace(COMMENTS, '') };
});

const imports = sources.flatMap(({ file, world, code }) =>
  IMPORTS.flatMap((pattern) => [...code.matchAll(pattern)]).map(({ groups = {} }) => {
    const { from = '', clause = '' } = groups;
    const target = from.startsWith('.') ? worldOf(posix.join(posix.dirname(file), from)) : from;
    return { file, world, from, clause, target, line: `${file} imports ${from}` };
  }),
);

/** The root, or the first folder: `..` for what is not in src/ at all. */
function worldOf(path: string): string {
  const [folder = '', ...rest] = path.split('/');
  return rest.length === 0 ? 'root' : folder;
}

function isWorld(folder: string): folder is World {
  return Object.hasOwn(MAY_IMPORT, folder);
}

function isLibrary(target: string): boolean {
  return !isWorld(target) && target !== '..';
}

function isDatabase(target: string): boolean {
  return /^(?:node:sqlite|pg(?:-.*)?)$/.test(target);
}

function isFramework(target: string): boolean {
  return /^(?:@?fastify|@scalar|node:http)/.test(target);
}

function filesWhose(pattern: RegExp, where: (world: string) => boolean = () => true): string[] {
  const found = sources.filter(({ world, code }) => where(world) && pattern.test(code));
  return found.map(({ file }) => file);
}

test('src › read by this test › has files whose imports are seen', () => {
  assert.ok(imports.some(({ line }) => line === 'pet.ts imports ./json.ts'));
  assert.deepEqual(filesWhose(HIDDEN_IMPORT), []);
});

test('src › each folder › is one of the worlds of the table', () => {
  assert.deepEqual(
    filesWhose(/^/, (world) => !isWorld(world)),
    [],
  );
});

test('src › each import › is one that the table allows', () => {
  const forbidden = imports.filter(
    ({ world, target }) => target !== world && !(isWorld(world) && MAY_IMPORT[world](target)),
  );
  assert.deepEqual(
    forbidden.map(({ line }) => line),
    [],
  );
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

test('the root of src › node:zlib › is imported for crc32 alone', () => {
  const zlib = imports.filter(({ world, from }) => world === 'root' && from === 'node:zlib');
  assert.deepEqual(
    zlib.filter(({ clause }) => clause !== '{ crc32 }').map(({ line }) => line),
    [],
  );
});

test('the root of src › process › is not known', () => {
  assert.deepEqual(
    filesWhose(/\bprocess\b/, (world) => world === 'root'),
    [],
  );
});

test('src › process.env › is read by cli/options.ts alone', () => {
  const readers = filesWhose(
    /\bprocess\s*(?:\?\.|\.|\[)\s*['"]?env\b|\benv\b[^;]*(?:=\s*process\b|'node:process')/,
  );
  assert.deepEqual(
    readers.filter((file) => file !== 'cli/options.ts'),
    [],
  );
});

for (const { file, text } of sources) {
  test(`src/${file} › its first line › says in a sentence what it is`, () => {
    const [first] = text.replace(/^#!.*\n/, '').split('\n');
    assert.match(first ?? '', /^\/\*\* [A-Z`].*\. \*\/$/);
  });
}
