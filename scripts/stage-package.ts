/**
 * Compiles the sources, and writes the published packages to `.cache/package` and `.cache/petstore-client`,
 * for `npm run build`. The package of the service brings the dependencies that were tested, in its node_modules. npm
 * packs no lock; the one beside package.json is for the SBOM.
 */

import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ROOT, run } from './run.ts';

const COPIED = ['CHANGELOG.md', 'LICENSE', 'SECURITY.md', 'deploy', 'docs', 'openapi.json'];

interface Locked {
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const folder = join(ROOT, '.cache/package');
const client = join(ROOT, '.cache/petstore-client');
const compiled = join(ROOT, '.cache/compiled');

for (const path of [folder, client, compiled]) rmSync(path, { recursive: true, force: true });
for (const path of [folder, client]) mkdirSync(path, { recursive: true });
// The last project compiles the client again, for older runtimes than the console has.
for (const project of ['tsconfig.build.json', 'tsconfig.console.json', 'client']) {
  await run(process.execPath, ['node_modules/typescript/bin/tsc', '--project', project]);
}
renameSync(join(compiled, 'src'), join(folder, 'dist'));
chmodSync(join(folder, 'dist/cli/bin.js'), 0o755);
cpSync(join(compiled, 'client'), join(folder, 'client'), { recursive: true });
renameSync(join(compiled, 'client'), join(client, 'dist'));
// Passwords and keys of the person who builds: the docs put them beside the examples.
const SECRET = /^\.env|\.(?:key|crt|pem)$/;
const filter = (path: string) => !SECRET.test(basename(path));
for (const name of COPIED)
  cpSync(join(ROOT, name), join(folder, name), { recursive: true, filter });
cpSync(join(ROOT, 'scripts/package-readme.md'), join(folder, 'README.md'));
for (const name of ['LICENSE', 'client/README.md'])
  cpSync(join(ROOT, name), join(client, basename(name)));
for (const file of globSync('**/*.md', { cwd: folder })) unlinkStrangers(join(folder, file));
// The sources that are read as they are.
for (const name of globSync('{console,http/**}/*.{html,css,md,gz}', { cwd: join(ROOT, 'src') }))
  cpSync(join(ROOT, 'src', name), join(folder, 'dist', name));
// `private` keeps the checkout from being published: it has no compiled sources.
const { private: _, workspaces, scripts, devDependencies, ...manifest } = read('package.json');
write(join(folder, 'package.json'), { ...manifest, bundleDependencies: true });
const { private: __, ...clientManifest } = read('client/package.json');
write(join(client, 'package.json'), clientManifest);
const { packages, ...lock } = read('package-lock.json');
const { dependencies, engines } = manifest;
const entry = { name: lock.name, version: lock.version, dependencies, engines };
const locked = selectRuntime(packages);
write(join(folder, 'package-lock.json'), { ...lock, packages: { '': entry, ...locked } });
for (const path of Object.keys(locked))
  cpSync(join(ROOT, path), join(folder, path), { recursive: true });

/** Replaces links to files that only the checkout has by their words. */
function unlinkStrangers(file: string): void {
  const text = readFileSync(file, 'utf8').replaceAll(
    /\[([^\]]+)\]\(([^)#:]+)(#[^)]*)?\)/g,
    (link, words, path) => (existsSync(join(dirname(file), path)) ? link : words),
  );
  writeFileSync(file, text);
}

/** The packages that a service needs to run: no tools, no workspaces, no Node of `runtime`. */
function selectRuntime(packages: Readonly<Record<string, Locked>>): Record<string, Locked> {
  const nodes = Object.keys(packages.runtime?.optionalDependencies ?? {});
  const strangers = ['', 'runtime', 'client', ...nodes.map((name) => `node_modules/${name}`)];
  return Object.fromEntries(
    Object.entries(packages).filter(
      ([path, { dev, link }]) => !dev && !link && !strangers.includes(path),
    ),
  );
}

function read(file: string) {
  return JSON.parse(readFileSync(join(ROOT, file), 'utf8'));
}

function write(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);
}
