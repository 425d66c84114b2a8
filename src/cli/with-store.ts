/** Commands that open a store: they take `--database`, and say which store they opened. */

import type { Command } from 'commander';
import type { Environment } from '../api-key.ts';
import { describeAddress } from '../storage/address.ts';
import type { OpenOptions } from '../storage/engine.ts';
import { openStore } from '../storage/open.ts';
import type { Store } from '../store.ts';
import { databaseOption } from './options.ts';
import { addExamples, say } from './output.ts';

export interface CommandOptions {
  readonly database: string;
  /** Only of a command that makes keys. */
  readonly environment?: Environment;
}

export interface PrintOptions extends CommandOptions {
  readonly json: boolean;
}

export function addStoreCommand(parent: Command, name: string, ...lines: string[]): Command {
  return addExamples(parent.command(name).addOption(databaseOption()), ...lines);
}

/** The action of a command on its store, with its arguments and options. Only one that adds something may `create`. */
export function withStore<Values extends unknown[]>(
  work: (store: Store, ...values: Values) => Promise<void>,
  options: OpenOptions = {},
) {
  return async function (this: Command, ...values: Values): Promise<void> {
    const { database, environment } = this.opts<CommandOptions>();
    await using store = await openStore(database, { ...options, environment });
    await work(store, ...values);
    say(describeStore(database, store));
  };
}

export function describeStore(database: string, { foundSchema }: Store): string {
  const what = foundSchema === 0 ? 'New store' : 'Store';
  return `${what}: ${describeAddress(database)}`;
}
