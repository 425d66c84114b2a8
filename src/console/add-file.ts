/** Adds the pets of a CSV or JSON file: all rows are checked first, and the same file again adds only what is missing. */

import type { CreateOptions } from '../../client/petstore-client.ts';
import { readCsv } from '../csv.ts';
import { type NewPet, parseNewPet } from '../pet.ts';
import { parseRow, RowError, readJsonRows } from '../rows.ts';
import { getElement, say } from './elements.ts';
import { createClient, findKey } from './session.ts';

const FILE_MIB_MAX = 4;
/** Creates that are sent at a time, which share a sync of the disk. */
const AT_ONCE = 4;
const ERRORS_SHOWN_MAX = 20;

const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;

export class FileAdder {
  #stop: AbortController | undefined;

  /** Resolves when all pets are added, or it was stopped. */
  async add(file: File): Promise<void> {
    say('file-added', '');
    if (this.#stop !== undefined) throw new Error('Another file is being added: wait, or stop it.');
    if (file.size > FILE_MIB_MAX * 1024 * 1024) {
      throw new Error(`${file.name} has over ${FILE_MIB_MAX} MiB: use petstore pets import.`);
    }
    const stop = new AbortController();
    this.#stop = stop;
    const progress = getElement('progress', HTMLElement);
    try {
      const bytes = new Uint8Array(await file.arrayBuffer());
      getElement('progress-text', HTMLElement).textContent = 'reading the file';
      getElement('progress-bar', HTMLProgressElement).removeAttribute('value');
      progress.hidden = false;
      // Parsing a large file keeps the tab from painting: the frame that shows the progress comes first.
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      const pets = await parsePets(file.name, bytes);
      say('file-added', await addPets(pets, hash(bytes), stop));
    } finally {
      progress.hidden = true;
      this.#stop = undefined;
    }
  }

  stop(): void {
    this.#stop?.abort(new Error('Stopped.'));
  }
}

/** The pets of the file, when every row is one. */
async function parsePets(name: string, bytes: Uint8Array): Promise<readonly NewPet[]> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Error('The file is not valid UTF-8.', { cause });
  }
  const isJson = /\.json$/i.test(name) || /^\s*[[{]/.test(text);
  const pets: NewPet[] = [];
  const errors: RowError[] = [];
  for await (const row of isJson ? readJsonRows(text) : readCsv([text])) {
    const pet = parseRow(row, parseNewPet);
    if (pet instanceof RowError) errors.push(pet);
    else pets.push(pet);
  }
  if (errors.length === 0 && pets.length === 0) throw new Error('The file has no pets.');
  if (errors.length === 0) return pets;
  const lines = errors.slice(0, ERRORS_SHOWN_MAX).map(({ message }) => message);
  if (errors.length > lines.length) lines.push(`and ${errors.length - lines.length} more`);
  throw new Error(['Nothing was added, for some rows are wrong:', ...lines].join('\n'));
}

/** FNV-1a of 64 bits: browsers have SHA-256 on pages of HTTPS alone. */
function hash(bytes: Uint8Array): string {
  let value = FNV_OFFSET;
  for (const byte of bytes) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * FNV_PRIME);
  return value.toString(16);
}

/** Sends each pet until the service takes it, or refuses it for good; what was done, in words. */
async function addPets(
  pets: readonly NewPet[],
  id: string,
  controller: AbortController,
): Promise<string> {
  let added = 0;
  /** How many pets an earlier try has added. */
  let known = 0;
  const show = (words = '') => {
    getElement('progress-text', HTMLElement).textContent = `${added} of ${pets.length}${words}`;
    getElement('progress-bar', HTMLProgressElement).value = added / pets.length;
  };
  const { signal } = controller;
  // One for all workers: each takes the next one.
  const entries = pets.entries();
  const work = async () => {
    for (const [index, pet] of entries) {
      const options = { idempotencyKey: `${id}-${index}`, signal, retries: Infinity };
      if (await addPet(pet, options, show)) known += 1;
      added += 1;
      show();
    }
  };
  show();
  const count = () => `${added} of ${pets.length} added`;
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } catch (cause) {
    const words = `${(cause as Error).message}\n${count()}. Add the same file again to go on.`;
    if (signal.aborted) return words;
    controller.abort(cause);
    throw new Error(words, { cause });
  }
  return tellAdded(pets.length, known);
}

/** Whether an earlier try had added the pet. */
async function addPet(
  pet: NewPet,
  options: CreateOptions,
  show: (words: string) => void,
): Promise<boolean> {
  const answers: (Response | undefined)[] = [];
  const onAnswer = (response?: Response) => {
    answers.push(response);
    if (!response?.ok) show(`, answered ${response?.status ?? 'nothing'}, trying again`);
  };
  await createClient(findKey(), onAnswer).create(pet, options);
  // A replay that comes later repeats an answer of this try, which was lost.
  return answers[0]?.headers.get('idempotency-replayed') === 'true';
}

function tellAdded(count: number, known: number): string {
  if (known === 0) return `${count} of ${count} added.`;
  if (known < count) return `${count - known} of ${count} added; ${known} were there already.`;
  return count === 1 ? 'The pet was there already.' : `All ${count} pets were there already.`;
}
