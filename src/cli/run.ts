/** The command line: its commands, how an error is told, and the exit status. */

import { Command, CommanderError } from 'commander';
import { PetstoreError } from '../error.ts';
import { VERSION } from '../service/version.ts';
import { addBackup } from './commands/back-up-store.ts';
import { addCopy } from './commands/copy-store.ts';
import { addExportPets } from './commands/export-pets.ts';
import { addImportPets } from './commands/import-pets.ts';
import { addKeys } from './commands/keys.ts';
import { addMigrate } from './commands/migrate-store.ts';
import { addPets } from './commands/pets.ts';
import { addOpenApi } from './commands/print-openapi.ts';
import { addServe } from './commands/run-service.ts';
import { envFileOption, UsageError } from './options.ts';
import { examples, toOneLine } from './output.ts';
import { checkVariables, loadVariables, removeKubernetesVariables } from './variables.ts';

const EXIT_FAILED = 1;
const EXIT_WRONG_USE = 2;

export function createProgram(): Command {
  const program = new Command('petstore')
    .description('Keeps the pets of a store, and serves them as JSON over HTTP.')
    .version(VERSION)
    .addHelpText('after', examples('petstore serve', 'petstore keys create --name ci'))
    .addOption(envFileOption().argParser(loadVariables))
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .hook('preAction', checkVariables)
    .configureOutput({
      outputError: (text, write) => write(`${toOneLine(text.replace(/^error: /, 'petstore: '))}\n`),
    });
  addServe(program);
  addKeys(program);
  const pets = addPets(program);
  addImportPets(pets);
  addExportPets(pets);
  addBackup(program);
  addCopy(program);
  addMigrate(program);
  addOpenApi(program);
  return program;
}

/** Prints one line for an error, with a stack only for a bug of ours; returns the exit status. */
function report(error: unknown): number {
  // Commander has printed its own errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_WRONG_USE;
  const isExpected =
    error instanceof PetstoreError ||
    error instanceof UsageError ||
    (error instanceof Error && 'syscall' in error);
  const stack = error instanceof Error ? error.stack : String(error);
  process.stderr.write(`petstore: ${isExpected ? toOneLine(error.message) : stack}\n`);
  return error instanceof UsageError ? EXIT_WRONG_USE : EXIT_FAILED;
}

/** Reports the first error; those that follow from it are not printed. */
export function fail(error: unknown): void {
  process.exitCode ??= report(error);
}

/** Runs a command; its exit status is `process.exitCode`, and 0 without one. */
export async function run(args: readonly string[]): Promise<void> {
  removeKubernetesVariables();
  await createProgram().parseAsync(args, { from: 'user' }).catch(fail);
}
