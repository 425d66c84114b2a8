/** Sends the pets of a file, several at a time, each until the service takes or refuses it. */

import { createClient } from './client.ts';
import { getElement, write } from './elements.ts';
import type { PetFile } from './pet-file.ts';

/** How many creates are under way. They share a sync of the disk. */
const AT_A_TIME = 16;

/** Resolves to the result in words. Sent again, the file adds only what is missing. */
export async function sendPets({ id, pets }: PetFile, signal: AbortSignal): Promise<string> {
  const { length } = pets;
  let added = 0;
  let known = 0;
  const show = (words = '') => {
    write('progress-text', `${added} of ${length}${words}`);
    getElement('progress-bar', HTMLProgressElement).value = added / length;
  };
  const client = createClient('from-file', {
    onResponse({ request, status, headers }) {
      if (status !== 201) show(`, answered ${status}`);
      // A replay after the first try repeats an answer that was lost.
      else if (request.tries === 1 && headers.get('idempotency-replayed') === 'true') known += 1;
    },
  });
  const entries = pets.entries();
  const sendNext = async () => {
    for (const [index, pet] of entries) {
      const options = { idempotencyKey: `${id}-${index}`, retries: Infinity, signal };
      await client.create(pet, options);
      added += 1;
      show();
    }
  };
  const warn = (event: BeforeUnloadEvent) => event.preventDefault();
  window.addEventListener('beforeunload', warn);
  show();
  try {
    await Promise.all(Array.from({ length: AT_A_TIME }, sendNext));
  } catch (cause) {
    const count = `${added} of ${length} added. Add the same file again to go on.`;
    if (signal.aborted) return `Stopped: ${count}`;
    throw new Error(`${(cause as Error).message}\n${count}`, { cause });
  } finally {
    window.removeEventListener('beforeunload', warn);
  }
  const before = known === 0 ? '' : `; already there: ${known}`;
  return `${length - known} of ${length} added${before}.`;
}
