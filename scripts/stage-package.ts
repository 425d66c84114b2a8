/**
 * Writes all of the published package but its compiled sources to `.cache/package`, for `npm run build`.
 * Its npm-shrinkwrap.json is package-lock.json without what only the checkout needs, so that `npm ci` in
 * the package brings the dependencies that were tested.
 */

import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A link of Markdown to a file, with the path of the file. */
const LINK = /\[([^\]]+)\]\((?!https?:)([^)#]+)[^)]*\)/g;
const FILES = ['CHANGELOG.md', 'LICENSE', 'README.md', 'openapi.json'];

interface Locked {
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const root = join(import.meta.dirname, '..');
const folder = join(root, '.cache/package');

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const file of FILES) copyFileSync(join(root, file), join(folder, file));
// `private` keeps the checkout itself, which has neither the sources compiled nor the lock, from being published.
const { private: _, workspaces, scripts, devDependencies, ...manifest } = read('package.json');
write('package.json', manifest);
const { packages, ...lock } = read('package-lock.json');
const { dependencies, engines } = manifest;
const entry = { name: lock.name, version: lock.version, dependencies, engines };
write('npm-shrinkwrap.json', { ...lock, packages: { '': entry, ...selectRuntime(packages) } });

const readme = readFileSync(join(folder, 'README.md'), 'utf8');
writeFileSync(join(folder, 'README.md'), readme.replace(LINK, unlinkAbsent));

/** A link to what only the checkout has is left as its text. */
function unlinkAbsent(link: string, text: string, path: string): string {
  return existsSync(join(folder, path)) ? link : text;
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
