/** `petstore migrate`: brings a store of an older release to this program's schema. */

import type { Command } from 'commander';
import { SCHEMA } from '../../storage/migrations.ts';
import type { Store } from '../../store.ts';
import { say } from '../output.ts';
import { addStoreCommand, withStore } from '../with-store.ts';

export function addMigrate(program: Command): void {
  addStoreCommand(program, 'migrate', 'petstore migrate --dry-run', 'petstore migrate')
    .description('bring a store of an older release to the schema of this release, as serve does')
    .option('--dry-run', 'only say what would be done', false)
    .action(function (this: Command, { dryRun }: { dryRun: boolean }) {
      const olderSchema = dryRun ? 'keep' : 'migrate';
      // A table may be locked, for example by a backup.
      const options = { olderSchema, onlyReads: dryRun, startTimeout: 60, warn: say } as const;
      return withStore(async (store) => say(describeSchema(store, dryRun)), options).call(this);
    });
}

function describeSchema({ foundSchema }: Store, dryRun: boolean): string {
  if (foundSchema >= SCHEMA) return `The schema is ${foundSchema}: there is nothing to migrate.`;
  const steps = `from schema ${foundSchema} to ${SCHEMA}`;
  return dryRun ? `Would migrate ${steps}. Nothing is changed.` : `Migrated ${steps}.`;
}
