/** `petstore migrate`: brings a store of an older release to this program's schema. */

import type { Command } from 'commander';
import { SCHEMA } from '../../storage/migrations.ts';
import type { Store } from '../../store.ts';
import { databaseOption, dryRunOption } from '../options.ts';
import { examples, say } from '../output.ts';
import { type StoreOptions, withStore } from '../with-store.ts';

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description('bring a store of an older release to the schema of this one, as serve does')
    .addOption(dryRunOption())
    .addOption(databaseOption())
    .addHelpText('after', examples('petstore migrate --dry-run', 'petstore migrate'))
    .action(({ dryRun, database }: StoreOptions & { dryRun: boolean }) =>
      withStore({ database }, async (store) => say(describe(store, dryRun)), {
        olderSchema: dryRun ? 'keep' : 'migrate',
      }),
    );
}

function describe({ foundSchema }: Store, dryRun: boolean): string {
  if (foundSchema >= SCHEMA) return `The schema is ${foundSchema}: there is nothing to migrate.`;
  const steps = `from schema ${foundSchema} to ${SCHEMA}`;
  return dryRun ? `Would migrate ${steps}. Nothing is changed.` : `Migrated ${steps}.`;
}
