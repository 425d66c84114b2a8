/**
 * Generates clients in Java and PHP with openapi-generator from the document that the service serves, compiles
 * them, and runs the scenario with each. It is run by hand: it needs Debian's default-jdk-headless, maven,
 * php-cli, php-curl, php-mbstring and php-guzzlehttp-guzzle.
 *
 * Usage: npm run node -- scripts/openapi-generator.ts
 */

import { join } from 'node:path';
import { createFolder } from '../test/support/temporary-folder.ts';
import { CLIENTS, runScenario, saveDocument } from './clients.ts';
import { installPython, run } from './run.ts';

const folder = join(CLIENTS, 'openapi-generator');
const bin = await installPython('openapi-generator', join(folder, 'requirements.txt'));

await using temporary = await createFolder();
const document = await saveDocument(temporary.path);
await generate('java', [
  '--library=native',
  '--additional-properties=invokerPackage=petstore,apiPackage=petstore.api,modelPackage=petstore.model',
]);
const java = join(folder, 'java');
const build = ['--file', 'generated/pom.xml', 'compile', 'dependency:copy-dependencies'];
await run('mvn', ['--batch-mode', '--quiet', ...build], { cwd: java });
const classes = 'generated/target/classes:generated/target/dependency/*';
await runScenario('java', ['--class-path', classes, 'Scenario.java'], java);

await generate('php', ['--additional-properties=invokerPackage=Petstore']);
const strict = ['--define', 'zend.assertions=1', '--define', 'error_reporting=-1'];
await runScenario('php', [...strict, 'scenario.php'], join(folder, 'php'));

/** Writes the client of that language into the folder `generated` beside its scenario. */
async function generate(language: string, options: readonly string[]): Promise<void> {
  const output = join(folder, language, 'generated');
  const args = ['generate', '-g', language, '-i', document, '-o', output, ...options];
  await run(join(bin, 'openapi-generator-cli'), args);
}
