/** `petstore copy`: copies a whole store into an empty one. */

import type { Command } from 'commander';
import { PetstoreError } from '../../error.ts';
import { describeAddress } from '../../storage/address.ts';
import { type CopyOptions, copyStore } from '../../storage/open.ts';
import { copyOptions } from '../options.ts';
import { examples, toOneLine } from '../output.ts';
import { Progress, type ProgressStream } from '../progress.ts';
import { refuseMemory } from '../with-store.ts';

export function addCopy(program: Command): void {
  const command = program
    .command('copy')
    .description('copy a whole store, ids and keys included, into an empty one, and read it back');
  for (const option of copyOptions()) command.addOption(option);
  command
    .addHelpText(
      'after',
      examples(
        'petstore copy --from sqlite:petstore.db --to postgres://petstore@db.test/petstore',
        'petstore copy --from sqlite:petstore.db --to sqlite:production.db --environment production',
      ),
    )
    .action((options: CopyOptions) => copyPetstore(options, process.stderr));
}

export async function copyPetstore(options: CopyOptions, stderr: ProgressStream): Promise<void> {
  for (const address of [options.from, options.to]) refuseMemory(address);
  const progress = new Progress(stderr);
  try {
    const { keys, checksum } = await copyStore(options, (phase, part, pets) => {
      progress.part = part;
      if (phase === 'copied') progress.pets += pets;
      progress.show(phase);
    });
    progress.finish('copied');
    const count = `${keys} ${keys === 1 ? 'key' : 'keys'}`;
    stderr.write(`With ${count}. Read back, it has the checksum of the original: ${checksum}\n`);
    const { environment } = options;
    if (environment !== undefined && keys === 0) {
      stderr.write(`Make its first key with keys create --environment ${environment}.\n`);
    }
    const stores = `From ${describeAddress(options.from)} to ${describeAddress(options.to)}.`;
    stderr.write(`${toOneLine(stores)}\n`);
  } catch (cause) {
    progress.clear();
    if (!(cause instanceof PetstoreError)) throw cause;
    throw new PetstoreError(cause.code, `${cause.message}; nothing was copied`, { cause });
  }
}
