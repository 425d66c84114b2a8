/** `petstore copy`: copies a whole store into an empty one. */

import { type Command, Option } from 'commander';
import { ENVIRONMENTS } from '../../api-key.ts';
import { DATABASE } from '../../service/option-kinds.ts';
import { describeAddress } from '../../storage/address.ts';
import { type CopyOptions, copyStore } from '../../storage/open.ts';
import { toSetting } from '../options.ts';
import { examples, type ProgressStream, withProgress } from '../output.ts';
import { refuseMemory } from '../with-store.ts';

const FROM = { ...DATABASE, description: 'the store to copy' };
const TO = { ...DATABASE, description: 'an empty store, or a new store' };

export function addCopy(program: Command): void {
  program
    .command('copy')
    .description('copy a whole store, ids and keys included, into an empty store, and read it back')
    .addOption(toSetting('from', FROM).makeOptionMandatory())
    .addOption(toSetting('to', TO).makeOptionMandatory())
    .addOption(
      new Option(
        '--environment <name>',
        'copy only the keys of this environment, for a new store of this environment',
      ).choices(ENVIRONMENTS),
    )
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
  const { from, to, environment } = options;
  for (const address of [from, to]) refuseMemory(address);
  await withProgress(stderr, 'copied', async (progress) => {
    const { keys, checksum } = await copyStore(options, (phase, part, pets) => {
      progress.part = part;
      if (phase === 'copied') progress.pets += pets;
      progress.show(phase);
    });
    progress.finish('copied');
    const count = `${keys} ${keys === 1 ? 'key' : 'keys'}`;
    progress.say(
      `With ${count}. Read back, the copy has the checksum of the original: ${checksum}`,
    );
    if (environment !== undefined && keys === 0) {
      progress.say(`Make its first key with keys create --environment ${environment}.`);
    }
    progress.say(`From ${describeAddress(from)} to ${describeAddress(to)}.`);
  });
}
