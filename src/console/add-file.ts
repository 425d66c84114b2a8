/** Adds the pets of a CSV or JSON file. The same file again adds only what is missing. */

import { readCsv } from '../csv.ts';
import { type NewPet, parseNewPet } from '../pet.ts';
import { parseRows, readJsonRows } from '../rows.ts';
import { getElement, say } from './elements.ts';
import { createClient } from './session.ts';

const FILE_MIB_MAX = 4;

const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;

export async function addFile(file: File): Promise<void> {
  const progress = getElement('progress', HTMLElement);
  say('file-added', '');
  if (!progress.hidden) {
    throw new Error('Another file is being added: wait, or reload the page to stop it.');
  }
  if (file.size > FILE_MIB_MAX * 1024 * 1024) {
    throw new Error(`${file.name} has more than ${FILE_MIB_MAX} MiB: use petstore pets import.`);
  }
  showProgress('reading the file', 0);
  progress.hidden = false;
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const pets = await parsePets(file.name, bytes);
    say('file-added', await addPets(pets, hash(bytes)));
  } finally {
    progress.hidden = true;
  }
}

/** @throws Error that names the first wrong rows. */
async function parsePets(name: string, bytes: Uint8Array): Promise<readonly NewPet[]> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Error('The file is not valid UTF-8.', { cause });
  }
  const isJson = /\.json$/i.test(name) || /^\s*[[{]/.test(text);
  const pets: NewPet[] = [];
  const lines: string[] = [];
  const rows = isJson ? readJsonRows(text) : readCsv([text]);
  try {
    for await (const pet of parseRows(rows, parseNewPet, (line) => lines.push(line))) {
      pets.push(pet);
    }
  } catch (cause) {
    const reason = (cause as Error).message;
    throw new Error([`Nothing was added: ${reason}`, ...lines].join('\n'), { cause });
  }
  if (pets.length === 0) throw new Error('The file has no pets.');
  return pets;
}

/** FNV-1a of 64 bits. Browsers have SHA-256 only on pages with HTTPS. */
function hash(bytes: Uint8Array): string {
  let value = FNV_OFFSET;
  for (const byte of bytes) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * FNV_PRIME);
  return value.toString(16);
}

/** Sends each pet until the service takes or refuses it. Resolves to the result in words. */
async function addPets(pets: readonly NewPet[], id: string): Promise<string> {
  const { length } = pets;
  let added = 0;
  /** The pets that were in the store before. */
  let known = 0;
  const show = (words = '') => showProgress(`${added} of ${length}${words}`, added / length);
  const client = createClient({
    onResponse({ request, status, headers }) {
      if (status !== 201) show(`, answered ${status}`);
      // A replay after the first try repeats an answer that was lost.
      else if (request.tries === 1 && headers.get('idempotency-replayed') === 'true') known += 1;
    },
  });
  show();
  try {
    for (const [index, pet] of pets.entries()) {
      await client.create(pet, { idempotencyKey: `${id}-${index}`, retries: Infinity });
      added += 1;
      show();
    }
  } catch (cause) {
    const count = `${added} of ${length} added. Add the same file again to go on.`;
    throw new Error(`${(cause as Error).message}\n${count}`, { cause });
  }
  const before = known === 0 ? '' : `; already there: ${known}`;
  return `${length - known} of ${length} added${before}.`;
}

function showProgress(text: string, part: number): void {
  getElement('progress-text', HTMLElement).textContent = text;
  getElement('progress-bar', HTMLProgressElement).value = part;
}
