/** What the scripts share: they run commands, and install programs of Python. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');

/** The linters of the document, apart from the dependencies: they have three hundred packages. */
export const LINTERS = join(ROOT, '.ci/linters');
export const REDOCLY_ENV = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

/** Runs a command to its end, with its output shown. */
export async function run(
  command: string,
  args: readonly string[],
  { env = {}, cwd = ROOT }: { env?: Readonly<Record<string, string>>; cwd?: string } = {},
): Promise<void> {
  process.stdout.write(`$ ${[command, ...args].join(' ')}\n`);
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: 'inherit' });
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`${command} ended with status ${status}`);
}

/** Installs the packages of a requirements file in their own environment. Resolves to the path of its commands. */
export async function installPython(name: string, requirements: string): Promise<string> {
  const environment = join(ROOT, '.cache', name);
  const bin = join(environment, 'bin');
  if (!existsSync(join(bin, 'pip'))) await run('python3', ['-m', 'venv', environment]);
  const install = ['install', '--quiet', '--disable-pip-version-check', '--only-binary', ':all:'];
  const hashed = ['--require-hashes', '--requirement', requirements];
  await run(join(bin, 'pip'), [...install, ...hashed]);
  return bin;
}

/** Installs the packages of a folder, apart from the dependencies. */
export async function installNode(folder: string): Promise<void> {
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  await run('npm', args, { cwd: folder });
}
