/**
 * Generates clients in TypeScript, Python, Go and Java from the document that the service serves. Compiles each
 * client, and runs a scenario with it on a service with 250 pets. Of the document as Redocly bundles it, it
 * also makes a client by ogen and a server for Spring, which compile.
 *
 * Usage: npm run conformance, or npm run node -- scripts/clients.ts for this part of it
 */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram, startService } from '../test/support/program.ts';
import { createProcessFolder } from '../test/support/temporary-folder.ts';
import { installNode, installPython, LINTERS, REDOCLY_ENV, ROOT, run } from './run.ts';

/** A folder for each tool: its packages, and the scenario. */
const CLIENTS = join(ROOT, '.ci/clients');

export async function checkClients(): Promise<void> {
  const folder = createProcessFolder();
  const document = await saveDocument(folder);
  const bundled = await bundle(document);
  await checkJava(document);
  await checkSpring(bundled);
  await checkTypeScript(document);
  await checkPython(document);
  await checkGo(document, bundled);
}

/** Saves the document that a service serves, and resolves to its path. */
async function saveDocument(folder: string): Promise<string> {
  const path = join(folder, 'openapi.json');
  await using service = await startService([], { cwd: folder });
  await writeFile(path, await (await fetch(`${service.url}/openapi.json`)).text());
  return path;
}

/** Writes the document through numbers of JavaScript, as many tools do, and resolves to the path of that file. */
async function bundle(document: string): Promise<string> {
  const bundled = document.replace('.json', '.bundled.json');
  await installNode(LINTERS);
  const redocly = join(LINTERS, 'node_modules/.bin/redocly');
  await run(redocly, ['bundle', document, '--output', bundled], { env: REDOCLY_ENV });
  return bundled;
}

async function checkTypeScript(document: string): Promise<void> {
  const cwd = join(CLIENTS, 'typescript');
  const node = process.execPath;
  await installNode(cwd);
  const modules = join(cwd, 'node_modules');
  const types = ['--output', 'generated/openapi-typescript.ts'];
  await run(node, [join(modules, 'openapi-typescript/bin/cli.js'), document, ...types], { cwd });
  const config = ['--file', 'hey-api.config.ts'];
  const env = { DOCUMENT: document };
  await run(node, [join(modules, '@hey-api/openapi-ts/bin/run.js'), ...config], { cwd, env });
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  await run(node, [tsc, '--project', cwd]);
  await run(node, [tsc, '--project', join(cwd, 'tsconfig.swagger-codegen.json')]);
  await runScenario(node, ['generated/js/openapi-fetch.js'], cwd);
  await runScenario(node, ['generated/js/hey-api.js'], cwd);
}

/** Installs the generator of Python, mypy and openapi-spec-validator. Resolves to the path of their commands. */
export function installPythonTools(): Promise<string> {
  return installPython('clients-python', join(CLIENTS, 'python/requirements.txt'));
}

async function checkPython(document: string): Promise<void> {
  const cwd = join(CLIENTS, 'python');
  const bin = await installPythonTools();
  const output = ['--meta', 'none', '--output-path', 'generated/petstore', '--overwrite'];
  const input = ['--config', 'config.yml', '--path', document];
  const generate = ['generate', ...input, ...output, '--fail-on-warning'];
  await run(join(bin, 'openapi-python-client'), generate, { cwd });
  await run(join(bin, 'mypy'), ['--strict', 'generated', 'scenario.py'], { cwd });
  await runScenario(join(bin, 'python'), ['scenario.py'], cwd, { PYTHONPATH: 'generated' });
}

async function checkGo(document: string, bundled: string): Promise<void> {
  const cwd = join(CLIENTS, 'go');
  const bin = await installPython('clients-go', join(CLIENTS, 'go/requirements.txt'));
  const go = join(bin, 'go');
  const env = { GOTOOLCHAIN: 'local', CGO_ENABLED: '0' };
  const options = ['-generate', 'types,client', '-package', 'petstore'];
  const output = ['-o', 'generated/petstore.go'];
  await run(go, ['tool', 'oapi-codegen', ...options, ...output, document], { cwd, env });
  const target = ['--target', 'generated/ogen', '--package', 'petstore', '--clean'];
  await run(go, ['tool', 'ogen', ...target, bundled], { cwd, env });
  await run(go, ['vet', './...'], { cwd, env });
  await runScenario(go, ['run', '.'], cwd, env);
}

/** Also generates the TypeScript of swagger-codegen, which checkTypeScript compiles. */
async function checkJava(document: string): Promise<void> {
  const cwd = join(CLIENTS, 'java');
  const options = ['--quiet', '--batch-mode', `-Ddocument=${document}`];
  await run('mvn', [...options, 'clean', 'compile'], { cwd });
  await runScenario('mvn', [...options, 'exec:java'], cwd);
}

async function checkSpring(document: string): Promise<void> {
  const options = ['--quiet', '--batch-mode', `-Ddocument=${document}`];
  await run('mvn', [...options, 'clean', 'compile'], { cwd: join(CLIENTS, 'spring') });
}

/** Runs a scenario on a service of its own, whose store has 250 sample pets. */
async function runScenario(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const folder = createProcessFolder();
  const inFolder = { cwd: folder };
  const samples = await runProgram(['pets', 'generate', '--count', '250'], inFolder);
  await writeFile(join(folder, 'pets.ndjson'), samples.stdout);
  await runProgram(['pets', 'import', 'pets.ndjson'], inFolder);
  await using service = await startService([], inFolder);
  const { url, key } = service;
  await run(command, args, { cwd, env: { ...env, BASE_URL: `${url}/v1`, KEY: key } });
}

if (import.meta.main) await checkClients();
