/** The command `copy`; what is copied, and how it is verified, is the storage's matter. */

import { PetstoreError } from '../../error.ts';
import { copyStore } from '../../storage/open.ts';
import { Progress, type ProgressStream } from '../progress.ts';

export interface CopyConfig {
  readonly from: string;
  readonly to: string;
}

/**
 * Copies the store at one address to another one, which must be empty.
 *
 * @throws PetstoreError whose message says why nothing was copied.
 */
export async function copyPetstore(config: CopyConfig, stderr: ProgressStream): Promise<void> {
  for (const address of [config.from, config.to]) {
    if (address === 'sqlite::memory:') {
      throw new PetstoreError('bad_request', 'sqlite::memory: keeps nothing: name a file');
    }
  }
  const progress = new Progress(stderr, 'copied');
  try {
    const { keys, checksum } = await copyStore(config, (part, pets) => {
      progress.setPart(part);
      progress.addAnimals(pets);
    });
    progress.finish();
    const also = `${keys} ${keys === 1 ? 'key' : 'keys'}`;
    stderr.write(`With ${also}. Read back, it has the checksum of the original: ${checksum}\n`);
  } catch (cause) {
    progress.clear();
    if (!(cause instanceof PetstoreError)) throw cause;
    throw new PetstoreError(cause.code, `${cause.message}; nothing was copied`, { cause });
  }
}
