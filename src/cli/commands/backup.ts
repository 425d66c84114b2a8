/** `petstore backup`: copies the whole store to a new file. */

import type { Command } from 'commander';
import { databaseOption } from '../options.ts';
import { examples, say, toOneLine } from '../output.ts';
import { type StoreOptions, withStore } from '../with-store.ts';

export function addBackup(program: Command): void {
  program
    .command('backup')
    .description('copy the whole store to a new file, also while the service runs')
    .argument('<file>', 'the copy, an SQLite database')
    .addOption(databaseOption())
    .addHelpText('after', examples('petstore backup petstore-2026-11-21.db'))
    .action((file: string, options: StoreOptions) =>
      withStore(options, { create: false }, async (store) => {
        await store.backup(file);
        say(toOneLine(`The store is copied to ${file}.`));
      }),
    );
}
