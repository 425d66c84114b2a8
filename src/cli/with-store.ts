/** Commands that open a store: they take `--database`, and say which store they opened. */

import type { Command } from 'commander';
import type { Environment } from '../api-key.ts';
import { describeAddress } from '../storage/address.ts';
import type { OpenOptions } from '../storage/engine.ts';
import { openStore } from '../storage/open.ts';
import type { Store } from '../store.ts';
import { databaseOption } from './options.ts';
import { addExamples, Progress, say, withProgress } from './output.ts';

export interface CommandOptions {
  readonly database: string;
  /** Only of a command that makes keys. */
  readonly environment?: Environment;
  readonly dryRun?: boolean;
}

const LOST_KEY =
  'keys list shows a new key if so: revoke it, since its text is lost, and make another by keys create';
/** How to see whether a command was done, by its name. Each command that writes has a row. */
const LOOKS: Readonly<Record<string, string>> = {
  add: 'pets export has a new pet of this name if so',
  update: 'pets get shows the new values if so',
  // Without --json: its output would take the place of the pets that were printed.
  remove: 'pets remove IDS --dry-run finds no pet if so; keep what was printed',
  create: LOST_KEY,
  rotate: LOST_KEY,
  revoke: 'keys list shows it if so',
  migrate: 'the same command says that nothing is left if so',
};

export interface PrintOptions extends CommandOptions {
  readonly json: boolean;
}

export function addStoreCommand(parent: Command, name: string, ...lines: string[]): Command {
  return addExamples(parent.command(name).addOption(databaseOption()), ...lines);
}

export const READS: OpenOptions = { onlyReads: true };

/** The action of a command on its store, with its arguments and options. Only one that adds something may `create`. */
export function withStore<Values extends unknown[]>(
  work: (store: Store, ...values: Values) => Promise<void>,
  options: OpenOptions = {},
) {
  return async function (this: Command, ...values: Values): Promise<void> {
    const { database, environment, dryRun } = this.opts<CommandOptions>();
    const run = async (progress: Progress) => {
      progress.look = LOOKS[this.name()] ?? '';
      const onCommit = () => {
        progress.isCommitting = true;
      };
      await using store = await openStore(database, { ...options, environment, onCommit });
      progress.isCommitting = !dryRun;
      await work(store, ...values);
      say(describeStore(database, store));
    };
    await (this.name() in LOOKS ? withProgress(undefined, run) : run(new Progress()));
  };
}

export function describeStore(database: string, { foundLayout }: Store, dryRun = false): string {
  const newStore = dryRun ? 'No store yet' : 'New store';
  const what = foundLayout === 0 ? newStore : 'Store';
  return `${what}: ${describeAddress(database)}`;
}
