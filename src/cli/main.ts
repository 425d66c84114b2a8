#!/usr/bin/env node
/** The command line: which commands there are, and how a failure is told. What they do is in the files beside. */

import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { PetstoreError } from '../error.ts';
import { openStore } from '../storage/open.ts';
import type { Store } from '../store.ts';
import { type CopyConfig, copyPetstore } from './commands/copy.ts';
import {
  type CreateKeyConfig,
  createKey,
  listKeys,
  revokeKey,
  rotateKey,
} from './commands/keys.ts';
import { exportPets, importPets } from './commands/pets.ts';
import {
  copyOptions,
  databaseOption,
  environmentOption,
  expiresOption,
  jsonOption,
  nameOption,
  overlapOption,
  parseKeyId,
  type ServeConfig,
  serveOptions,
} from './options.ts';

const EXIT_FAILED = 1;
const EXIT_WRONG_USE = 2;

interface StoreConfig {
  readonly database: string;
}

/** Opens the store for one command. Only what adds to a store may also make it. */
async function withStore(
  { database }: StoreConfig,
  { create }: { create: boolean },
  work: (store: Store) => Promise<void>,
): Promise<void> {
  if (database === 'sqlite::memory:') {
    throw new PetstoreError('bad_request', 'sqlite::memory: keeps nothing: name a file');
  }
  const store = await openStore(database, { create });
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

function createProgram(): Command {
  const { version } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  ) as { version: string };
  const program = new Command('petstore')
    .description('Keeps the animals of a store, and serves them as JSON over HTTP.')
    .version(version)
    .addHelpText('after', examples('petstore serve', 'petstore keys create --name ci'))
    .exitOverride()
    .configureOutput({
      outputError: (text, write) =>
        write(`${toOneLine(withoutAddress(text).replace(/^error: /, 'petstore: '))}\n`),
    });
  addServe(program);
  addKeys(program);
  addPets(program);
  addRest(program);
  return program;
}

function addServe(program: Command): void {
  const command = program.command('serve').description('run the service');
  for (const option of serveOptions()) command.addOption(option);
  command
    .addHelpText(
      'after',
      examples(
        'petstore serve --port 0',
        'PETSTORE_PORT=80 petstore serve --environment production --host 0.0.0.0 --base-url https://petstore.test/v1',
      ),
    )
    .action(async (config: ServeConfig) => {
      // Only these two need the HTTP world, whose loading takes longer than most commands.
      const { serve } = await import('../service/serve.ts');
      await serve(config);
    });
}

function addKeys(program: Command): void {
  const keys = program
    .command('keys')
    .description('make, show, revoke and rotate API keys')
    .addHelpText('after', examples('petstore keys create --name ci', 'petstore keys list'));
  keys
    .command('create')
    .description('make a key and print it, this once')
    .addOption(nameOption())
    .addOption(expiresOption())
    .addOption(environmentOption())
    .addOption(databaseOption())
    .addHelpText('after', examples('petstore keys create --name ci --expires 90d'))
    .action((config: StoreConfig & CreateKeyConfig) =>
      withStore(config, { create: true }, (store) => createKey(store, config)),
    );
  keys
    .command('list')
    .description('show all keys, without the keys themselves')
    .addOption(jsonOption())
    .addOption(databaseOption())
    .addHelpText('after', examples('petstore keys list --json'))
    .action((config: StoreConfig & { json: boolean }) =>
      withStore(config, { create: false }, (store) => listKeys(store, config)),
    );
  keys
    .command('revoke')
    .description('refuse a key from now on')
    .argument('<id>', 'the id that keys list shows', parseKeyId)
    .addOption(databaseOption())
    .addHelpText('after', examples('petstore keys revoke 3'))
    .action((id: number, config: StoreConfig) =>
      withStore(config, { create: false }, (store) => revokeKey(store, id)),
    );
  keys
    .command('rotate')
    .description('make a key in the place of another, which works on for a while')
    .argument('<id>', 'the id that keys list shows', parseKeyId)
    .addOption(overlapOption())
    .addOption(databaseOption())
    .addHelpText('after', examples('petstore keys rotate 3 --overlap 24h'))
    .action((id: number, config: StoreConfig & { overlap: number }) =>
      withStore(config, { create: false }, (store) => rotateKey(store, id, config.overlap)),
    );
}

function addPets(program: Command): void {
  const pets = program
    .command('pets')
    .description('move animals in and out of files')
    .addHelpText('after', examples('petstore pets import animals.csv', 'petstore pets export'));
  pets
    .command('import')
    .description('add all animals of a file, or none when a row is wrong')
    .argument('<file>', 'its ending says what it is: .ndjson (or .jsonl), .json or .csv')
    .addOption(databaseOption())
    .addHelpText('after', examples('petstore pets import animals.csv'))
    .action((file: string, config: StoreConfig) =>
      withStore(config, { create: true }, (store) => importPets(store, file, process.stderr)),
    );
  pets
    .command('export')
    .description('write all animals to a file, or as NDJSON to standard output')
    .argument('[file]', 'its ending says what it is: .ndjson (or .jsonl), .json or .csv')
    .addOption(databaseOption())
    .addHelpText('after', examples('petstore pets export animals.json'))
    .action((file: string | undefined, config: StoreConfig) =>
      withStore(config, { create: false }, (store) =>
        exportPets(store, file, process.stdout, process.stderr),
      ),
    );
}

function addRest(program: Command): void {
  program
    .command('backup')
    .description('copy the whole store to a new file, also while the service runs')
    .argument('<file>', 'the copy, a database by itself')
    .addOption(databaseOption())
    .addHelpText('after', examples('petstore backup petstore-2026-11-21.db'))
    .action((file: string, config: StoreConfig) =>
      withStore(config, { create: false }, async (store) => {
        await store.backup(file);
        process.stderr.write(`${toOneLine(`The store is copied to ${file}.`)}\n`);
      }),
    );
  const copy = program
    .command('copy')
    .description('move a whole store, ids and keys and all, into an empty one');
  for (const option of copyOptions()) copy.addOption(option);
  copy
    .addHelpText(
      'after',
      examples('petstore copy --from sqlite:petstore.db --to postgres://petstore@db.test/petstore'),
    )
    .action((config: CopyConfig) => copyPetstore(config, process.stderr));
  program
    .command('openapi')
    .description('print the OpenAPI document')
    .addHelpText('after', examples('petstore openapi > openapi.json'))
    .action(async () => {
      const { printDocument } = await import('./commands/openapi.ts');
      await printDocument();
    });
}

function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

/** Says what went wrong in one line and returns the exit status; a stack only for a fault of ours. */
function tell(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_WRONG_USE;
  const isForeseen =
    error instanceof PetstoreError || (error instanceof Error && 'syscall' in error);
  const words = isForeseen
    ? toOneLine(error.message)
    : error instanceof Error
      ? error.stack
      : error;
  process.stderr.write(`petstore: ${words}\n`);
  return EXIT_FAILED;
}

/** An address that is wrong may hold a password all the same. */
function withoutAddress(text: string): string {
  return text.replace(
    /(<address>' (?:argument|value)) '.*?'( from env '\w+')?(?= is invalid\. It must be sqlite)/s,
    '$1$2',
  );
}

/** File names and arguments may hold what a terminal would act on. */
function toOneLine(text: string): string {
  return text.trim().replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** Tells the first failure; what it leads to is not told again. */
function fail(error: unknown): void {
  process.exitCode ??= tell(error);
}

// Whoever reads may go away at any time; the service outlives it.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') fail(error);
  });
}
await createProgram().parseAsync().catch(fail);
