/**
 * Writes all of the published package but its compiled sources to `.cache/package`, for `npm run build`.
 * Its npm-shrinkwrap.json is package-lock.json without what only the checkout needs, so that `npm ci` in
 * the package brings the dependencies that were tested.
 */

import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

const COPIED = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'deploy',
  'docs',
  'openapi.json',
];

interface Locked {
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const root = join(import.meta.dirname, '..');
const folder = join(root, '.cache/package');

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
// Passwords and keys of whoever builds, which the documentation puts beside the examples.
const SECRET = /^\.env|\.(?:key|crt|pem)$/;
const filter = (path: string) => !SECRET.test(basename(path));
for (const name of COPIED)
  cpSync(join(root, name), join(folder, name), { recursive: true, filter });
// Of the sources, what is served as it is.
for (const name of globSync('{console,http/routes}/*.{html,css}', { cwd: join(root, 'src') }))
  cpSync(join(root, 'src', name), join(folder, 'dist', name));
for (const file of globSync('**/*.md', { cwd: folder })) unlinkStrangers(join(folder, file));
// `private` keeps the checkout itself, which has neither the sources compiled nor the lock, from being published.
const { private: _, workspaces, scripts, devDependencies, ...manifest } = read('package.json');
write('package.json', manifest);
const { packages, ...lock } = read('package-lock.json');
const { dependencies, engines } = manifest;
const entry = { name: lock.name, version: lock.version, dependencies, engines };
write('npm-shrinkwrap.json', { ...lock, packages: { '': entry, ...selectRuntime(packages) } });

/** Leaves of a link to what only the checkout has its words. */
function unlinkStrangers(file: string): void {
  const text = readFileSync(file, 'utf8').replaceAll(
    /\[([^\]]+)\]\(([^)#:]+)(#[^)]*)?\)/g,
    (link, words, path) => (existsSync(join(dirname(file), path)) ? link : words),
  );
  writeFileSync(file, text);
}

/** What the package needs to run: neither tools nor the workspace `runtime` and its Nodes. */
function selectRuntime(packages: Readonly<Record<string, Locked>>): Record<string, Locked> {
  const nodes = Object.keys(packages.runtime?.optionalDependencies ?? {});
  const strangers = ['', 'runtime', ...nodes.map((name) => `node_modules/${name}`)];
  return Object.fromEntries(
    Object.entries(packages).filter(
      ([path, { dev, link }]) => !dev && !link && !strangers.includes(path),
    ),
  );
}

function read(file: string) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

function write(file: string, value: unknown): void {
  writeFileSync(join(folder, file), `${JSON.stringify(value, undefined, 2)}\n`);
}
