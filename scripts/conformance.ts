/**
 * Checks the committed and the served document with Redocly, Spectral (rules for OpenAPI and of OWASP),
 * swagger-parser and openapi-spec-validator. Checks the running service against the document with
 * Schemathesis, on both databases. Then runs the generated clients (clients.ts).
 *
 * Usage: npm run conformance [-- SEED]
 */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startCluster } from '../test/support/postgres-cluster.ts';
import { startService } from '../test/support/program.ts';
import { createProcessFolder } from '../test/support/temporary-folder.ts';
import { checkClients, installPythonTools } from './clients.ts';
import { installNode, installPython, LINTERS, REDOCLY_ENV, ROOT, run } from './run.ts';

const PHASES = 'examples,coverage,fuzzing,stateful';

const seed = process.argv[2] ?? '1';

await installNode(LINTERS);
const pythonTools = await installPythonTools();
await lint(join(ROOT, 'openapi.json'));
const requirements = join(ROOT, 'scripts/schemathesis-requirements.txt');
const schemathesis = join(await installPython('schemathesis', requirements), 'schemathesis');
await checkService('sqlite:petstore.db');
await using cluster = await startCluster();
await checkService(cluster.url());
await checkClients();

async function lint(document: string): Promise<void> {
  const bin = join(LINTERS, 'node_modules/.bin');
  await run(join(bin, 'redocly'), ['lint', document], { env: REDOCLY_ENV });
  await run(join(bin, 'spectral'), ['lint', '--fail-severity', 'hint', document]);
  const parse = `import('@apidevtools/swagger-parser').then((it) => it.default.validate(process.argv[1]))`;
  await run(process.execPath, ['--eval', parse, document], { cwd: LINTERS });
  await run(join(pythonTools, 'openapi-spec-validator'), [document]);
}

/** Checks the service on the database at that address. */
async function checkService(database: string): Promise<void> {
  const folder = createProcessFolder();
  const args = ['--log-level', 'warn', '--database', database];
  await using service = await startService(args, { cwd: folder });
  const document = await fetch(`${service.url}/openapi.json`);
  await writeFile(join(folder, 'openapi.json'), await document.text());
  await lint(join(folder, 'openapi.json'));
  const config = ['--no-color', '--config-file', join(ROOT, 'schemathesis.toml')];
  const place = [`${service.url}/openapi.json`, '--url', `${service.url}/v1`];
  await run(
    schemathesis,
    [...config, 'run', ...place, '--checks', 'all', '--phases', PHASES, '--seed', seed],
    { env: { PETSTORE_KEY: service.key }, cwd: folder },
  );
  if (service.output.stderr !== '') throw new Error(`it logged: ${service.output.stderr}`);
}
