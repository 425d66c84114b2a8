/** `petstore migrate`: brings a store of an older release to this program's layout. */

import type { Command } from 'commander';
import { LAYOUT } from '../../storage/migrations.ts';
import type { Store } from '../../store.ts';
import { say } from '../output.ts';
import { addStoreCommand, withStore } from '../with-store.ts';

export function addMigrate(program: Command): void {
  addStoreCommand(program, 'migrate', 'petstore migrate --dry-run', 'petstore migrate')
    .description('bring a store of an older release to the layout of this release, as serve does')
    .option('--dry-run', 'only say what would be done', false)
    .action(function (this: Command, { dryRun }: { dryRun: boolean }) {
      const olderLayout = dryRun ? 'keep' : 'migrate';
      // A table may be locked, for example by a backup.
      const options = { olderLayout, onlyReads: dryRun, startTimeout: 60, warn: say } as const;
      return withStore(async (store) => say(describeLayout(store, dryRun)), options).call(this);
    });
}

function describeLayout({ foundLayout }: Store, dryRun: boolean): string {
  if (foundLayout >= LAYOUT) return `The layout is ${foundLayout}: there is nothing to migrate.`;
  const steps = `from layout ${foundLayout} to ${LAYOUT}`;
  return dryRun ? `Would migrate ${steps}. Nothing is changed.` : `Migrated ${steps}.`;
}
