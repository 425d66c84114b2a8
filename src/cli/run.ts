/** The command line: its commands, the line for an error, and the exit status. */

import cluster from 'node:cluster';
import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { PetstoreError } from '../error.ts';
import { toPrintableStack } from '../printable.ts';
import { addBackup } from './commands/back-up-store.ts';
import { addCopy } from './commands/copy-store.ts';
import { addExportPets } from './commands/export-pets.ts';
import { addImportPets } from './commands/import-pets.ts';
import { addKeys } from './commands/keys.ts';
import { addMigrate } from './commands/migrate-store.ts';
import { addPets } from './commands/pets.ts';
import { addOpenApi } from './commands/print-openapi.ts';
import { addServe } from './commands/run-service.ts';
import { UsageError } from './options.ts';
import { addExamples, say } from './output.ts';
import { checkNpm, checkVariables, cleanVariables } from './variables.ts';

const EXIT_FAILED = 1;
const EXIT_WRONG_USE = 2;

/** The words of other tools, by the name of the group, and our commands for them. */
const OTHER_WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  petstore: { start: 'serve', run: 'serve', import: 'pets import', export: 'pets export' },
  pets: { delete: 'remove', rm: 'remove', create: 'add', show: 'get', edit: 'update' },
  keys: { add: 'create', delete: 'revoke', remove: 'revoke', rm: 'revoke' },
};

export function createProgram(): Command {
  const program = addExamples(
    new Command('petstore'),
    'petstore serve',
    'petstore keys create --name ci',
  )
    .description('Keeps the pets of a store, and serves them as JSON over HTTP.')
    .version(manifest.version)
    .exitOverride()
    .hook('preAction', checkVariables)
    .configureOutput({ outputError: (text) => say(text.replace(/^error: /, 'petstore: ')) });
  addServe(program);
  addKeys(program);
  const pets = addPets(program);
  addImportPets(pets);
  addExportPets(pets);
  addBackup(program);
  addCopy(program);
  addMigrate(program);
  addOpenApi(program);
  addOtherWords(program);
  return program;
}

/** Adds a hidden command for each of these words: commander suggests only names that are spelled alike. */
function addOtherWords(program: Command): void {
  for (const group of [program, ...program.commands]) {
    for (const [word, name] of Object.entries(OTHER_WORDS[group.name()] ?? {})) {
      group
        .command(word, { hidden: true })
        .helpOption(false)
        .allowUnknownOption()
        .allowExcessArguments()
        .action(() => {
          throw new UsageError(`unknown command '${word}' (Did you mean ${name}?)`);
        });
    }
  }
}

/** Prints one line for an error, or a stack for a bug of ours. Returns the exit status. */
function report(error: unknown): number {
  // Commander has printed its own errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_WRONG_USE;
  const isExpected =
    error instanceof PetstoreError || error instanceof UsageError || 'syscall' in Object(error);
  if (isExpected) say(`petstore: ${(error as Error).message}`);
  else process.stderr.write(`petstore: ${toPrintableStack(error)}\n`);
  return error instanceof UsageError ? EXIT_WRONG_USE : EXIT_FAILED;
}

/** Reports the first error. Later errors follow from it. */
export function fail(error: unknown): void {
  process.exitCode ??= report(error);
}

export async function run(args: readonly string[]): Promise<void> {
  try {
    cleanVariables();
    const program = createProgram();
    checkNpm(program, args);
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    fail(error);
    // The channel to the primary would keep a worker alive.
    cluster.worker?.disconnect();
  }
}
