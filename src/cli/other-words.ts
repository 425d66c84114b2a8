/** The words of other tools for our commands: hidden commands, which name ours. */

import type { Command } from 'commander';
import { UsageError } from './options.ts';

/** By the name of the group: the word, and our command. */
const OTHER_WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  petstore: { start: 'serve', run: 'serve', import: 'pets import', export: 'pets export' },
  pets: { delete: 'remove', rm: 'remove', create: 'add', show: 'get', edit: 'update' },
  keys: { add: 'create', delete: 'revoke', remove: 'revoke', rm: 'revoke' },
};

/** Commander itself suggests only names that are spelled alike. */
export function addOtherWords(program: Command): void {
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
