/** Sends the pets of a file, several at a time, each until the service takes or refuses it. */

import { createClient } from './client.ts';
import { getElement, write } from './elements.ts';
import type { PetFile } from './pet-file.ts';

/** How many creates are under way. They share a sync of the disk. */
const AT_A_TIME = 16;

/** The names by which the service knows a file again belong to a key. */
const WITH_ANOTHER_KEY =
  'Another key adds the whole file again: first take out of the file the pets that the store has.';

/** Resolves to the result in words. Sent again with the same key, the file adds only what it did not add before. */
export async function sendPets({ id, pets }: PetFile, signal: AbortSignal): Promise<string> {
  const { length } = pets;
  let added = 0;
  let known = 0;
  let removed = 0;
  const count = () => {
    const there = known === 0 ? '' : `; already there: ${known}`;
    return `${added} of ${length} added${there}${removed === 0 ? '' : `; removed since: ${removed}`}.`;
  };
  const show = (words = '') => {
    const done = added + known + removed;
    write('progress-text', `${done} of ${length}${words}`);
    getElement('progress-bar', HTMLProgressElement).value = done / length;
  };
  const client = createClient('from-file', {
    onResponse({ request, status, headers }) {
      if (status === 410) removed += 1;
      else if (status !== 201) return show(`, answered ${status}`);
      // A replay after the first try repeats an answer that was lost.
      else if (request.tries === 1 && headers.get('idempotency-replayed') === 'true') known += 1;
      else added += 1;
      show();
    },
  });
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
  const warn = (event: BeforeUnloadEvent) => event.preventDefault();
  window.addEventListener('beforeunload', warn);
  show();
  try {
    await Promise.all(Array.from({ length: AT_A_TIME }, sendNext));
  } catch (cause) {
    const isKeyRefused = [401, 403].includes(Object(cause).status);
    const result = `${count()} ${isKeyRefused ? WITH_ANOTHER_KEY : 'Add the same file again to go on.'}`;
    if (signal.aborted) return `Stopped: ${result}`;
    throw new Error(`${(cause as Error).message}\n${result}`, { cause });
  } finally {
    window.removeEventListener('beforeunload', warn);
  }
  return count();
}
