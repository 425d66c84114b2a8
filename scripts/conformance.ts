/**
 * Checks the document, the committed one and the served one, with Redocly, Spectral (its rules for OpenAPI
 * and those of OWASP) and swagger-parser; and the running service against the document with Schemathesis,
 * on both databases.
 *
 * Usage: npm run conformance [-- SEED]
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startCluster } from '../test/support/postgres-cluster.ts';
import { startService } from '../test/support/program.ts';
import { createFolder } from '../test/support/temporary-folder.ts';

const PHASES = 'examples,coverage,fuzzing,stateful';

const root = join(import.meta.dirname, '..');
const linters = join(root, '.ci/linters');
const python = join(root, '.cache/schemathesis');
const seed = process.argv[2] ?? '1';

await installLinters();
await lint(join(root, 'openapi.json'));
await installSchemathesis();
await checkService('sqlite:petstore.db');
await using cluster = await startCluster();
await checkService(cluster.url());

/** Installs the linters apart from the dependencies: they have three hundred packages. */
async function installLinters(): Promise<void> {
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {}, linters);
}

async function lint(document: string): Promise<void> {
  const bin = join(linters, 'node_modules/.bin');
  await run(join(bin, 'redocly'), ['lint', document], {
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  });
  await run(join(bin, 'spectral'), ['lint', '--fail-severity', 'hint', document]);
  const parse = `import('@apidevtools/swagger-parser').then((it) => it.default.validate(process.argv[1]))`;
  await run(process.execPath, ['--eval', parse, document], {}, linters);
}

async function installSchemathesis(): Promise<void> {
  if (!existsSync(join(python, 'bin/pip'))) await run('python3', ['-m', 'venv', python]);
  const requirements = join(root, 'scripts/schemathesis-requirements.txt');
  const install = ['install', '--quiet', '--disable-pip-version-check', '--only-binary', ':all:'];
  const hashed = ['--require-hashes', '--requirement', requirements];
  await run(join(python, 'bin/pip'), [...install, ...hashed]);
}

/** Checks the service on the database at that address. */
async function checkService(database: string): Promise<void> {
  await using folder = await createFolder();
  const args = ['--log-level', 'warn', '--database', database];
  await using service = await startService(args, { cwd: folder.path });
  const document = await fetch(`${service.url}/openapi.json`);
  await writeFile(join(folder.path, 'openapi.json'), await document.text());
  await lint(join(folder.path, 'openapi.json'));
  const config = ['--no-color', '--config-file', join(root, 'schemathesis.toml')];
  const place = [`${service.url}/openapi.json`, '--url', `${service.url}/v1`];
  await run(
    join(python, 'bin/schemathesis'),
    [...config, 'run', ...place, '--checks', 'all', '--phases', PHASES, '--seed', seed],
    { PETSTORE_KEY: service.key },
    folder.path,
  );
  if (service.output.stderr !== '') throw new Error(`it logged: ${service.output.stderr}`);
}

/** Runs a command to its end, with its output shown. */
async function run(command: string, args: string[], env = {}, cwd = root): Promise<void> {
  process.stdout.write(`$ ${[command, ...args].join(' ')}\n`);
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: 'inherit' });
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`${command} ended with status ${status}`);
}
