/** Sends the pets of a file, several at a time, each until the service takes or refuses it. */

import type { ClientResponse } from '../../client/petstore-client.ts';
import { createClient } from './client.ts';
import { getElement, write } from './elements.ts';
import type { PetFile } from './pet-file.ts';

/** How many creates are under way. They share a sync of the disk. */
const AT_A_TIME = 16;

/** The names by which the service knows a file again belong to a key. */
const WITH_ANOTHER_KEY =
  'Another key adds the whole file again: first take out of the file the pets that the store has.';

/** Resolves to the result in words. Sent again with the same key, the file adds only what it did not add before. */
export async function sendPets(file: PetFile, signal: AbortSignal): Promise<string> {
  const { length } = file.pets;
  const counts = { added: 0, replayed: 0, removed: 0 };
  const count = () => {
    const { added, replayed, removed } = counts;
    const earlier = replayed === 0 ? '' : `, ${replayed} of them by earlier requests`;
    const gone = removed === 0 ? '' : `; removed since: ${removed}`;
    return `${added + replayed} of ${length} added${earlier}${gone}.`;
  };
  const warn = (event: BeforeUnloadEvent) => event.preventDefault();
  window.addEventListener('beforeunload', warn);
  showProgress(0, length);
  try {
    await sendAll(file, signal, (answer) => {
      const outcome = findOutcome(answer);
      if (outcome !== undefined) counts[outcome] += 1;
      const words = outcome === undefined ? `, answered ${answer.status}` : '';
      showProgress(counts.added + counts.replayed + counts.removed, length, words);
    });
  } catch (cause) {
    const isKeyRefused = [401, 403].includes(Object(cause).status);
    const next = isKeyRefused ? WITH_ANOTHER_KEY : 'Add the same file again to go on.';
    // The service may have taken creates whose answers did not come.
    const result = `At least ${count()} ${next}`;
    if (signal.aborted) return `Stopped. ${result}`;
    throw new Error(`${(cause as Error).message}\n${result}`, { cause });
  } finally {
    window.removeEventListener('beforeunload', warn);
  }
  return count();
}

/** What an answer says of its pet; undefined if the pet is sent again, or refused. */
function findOutcome({ status, headers }: ClientResponse) {
  if (status === 410) return 'removed';
  if (status !== 201) return undefined;
  return headers.get('idempotency-replayed') === 'true' ? 'replayed' : 'added';
}

async function sendAll(
  { id, pets }: PetFile,
  signal: AbortSignal,
  onResponse: (answer: ClientResponse) => void,
): Promise<void> {
  const client = createClient('from-file', { onResponse });
  const entries = pets.entries();
  const sendNext = async () => {
    for (const [index, pet] of entries) {
      const options = { idempotencyKey: `${id}-${index}`, retries: Infinity, signal };
      await client.create(pet, options).catch((error) => {
        // Whoever removed the pet does not want it again.
        if (error.code !== 'gone') throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, sendNext));
}

function showProgress(done: number, length: number, words = ''): void {
  write('progress-text', `${done} of ${length}${words}`);
  getElement('progress-bar', HTMLProgressElement).value = done / length;
}
