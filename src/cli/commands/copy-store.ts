/** `petstore copy`: copies a whole store into an empty one. */

import { type Command, Option } from 'commander';
import { ENVIRONMENTS, type Environment } from '../../api-key.ts';
import { spellKeysCreate } from '../../service/service.ts';
import { describeAddress } from '../../storage/address.ts';
import { copyStore } from '../../storage/open.ts';
import { STORE_ADDRESS, toSetting } from '../options.ts';
import { addExamples, countPets, say, withProgress } from '../output.ts';

const FROM = { ...STORE_ADDRESS, description: 'the store to copy', default: undefined };
const TO = { ...FROM, description: 'an empty store, or a new store' };

interface CopyAddresses {
  readonly from: string;
  readonly to: string;
  readonly environment?: Environment;
}

export function addCopy(program: Command): void {
  addExamples(
    program.command('copy'),
    'petstore copy --from sqlite:petstore.db --to postgres://petstore@db.test/petstore',
    'petstore copy --from sqlite:petstore.db --to sqlite:production.db --environment production',
  )
    .description('copy a whole store, ids and keys included, into an empty store, and read it back')
    .addOption(toSetting('from', FROM).makeOptionMandatory())
    .addOption(toSetting('to', TO).makeOptionMandatory())
    .addOption(
      new Option(
        '--environment <name>',
        'copy only the keys of this environment, for a new store of this environment',
      ).choices(ENVIRONMENTS),
    )
    .action(copyPetstore);
}

async function copyPetstore({ from, to, environment }: CopyAddresses): Promise<void> {
  await withProgress('copied', async (progress) => {
    progress.look = 'the same command again is refused, as not empty or locked, if so';
    const onPets = (count: number) => progress.add(count);
    const onCommit = () => {
      progress.isCommitting = true;
    };
    const keys = await copyStore(from, to, { environment, onPets, onCommit });
    say(`copied ${countPets(progress.pets)}`);
    say(`With ${keys} ${keys === 1 ? 'key' : 'keys'}. Each row was read back, and is the same.`);
    say(`From ${describeAddress(from)} to ${describeAddress(to)}.`);
    if (environment !== undefined && keys === 0) {
      say(`To make its first key: ${spellKeysCreate({ environment, database: to })}`);
    }
  });
}
