/** The dialog that adds the pets of a file: what the file has, the work, and its result. */

import { toJson } from '../../client/petstore-client.ts';
import { UnknownColumnsError } from '../csv-read.ts';
import { generatePets } from '../sample.ts';
import { quote } from './client.ts';
import { getElement, show, write } from './elements.ts';
import { countKnown, keepCsv, type PetFile, PLAIN, readFile } from './pet-file.ts';
import { sendPets } from './send-pets.ts';

const SAMPLES = 20;
/** With more pets, the command line is the better way: it adds all or none. */
const MANY = 2_000;

export class FileAdder {
  #work = new AbortController();
  #isAdding = false;
  #file: PetFile | undefined;

  /**
   * Reads a file, and shows what adding it would do. Ends the check of another file.
   *
   * @throws Error for a wrong file. If it has columns that no pet has, the page offers to leave them out.
   */
  async read(file: File, second?: File, ignoresColumns = false): Promise<void> {
    if (this.#isAdding) {
      throw new Error(`Pets are being added. Wait, or stop it. Then choose ${file.name} again.`);
    }
    this.#file = undefined;
    await this.#do(async (signal) => {
      if (second !== undefined) throw new Error('Drop one file at a time.');
      write('progress-text', `Reading ${file.name}`);
      // Ended, it has no error either: the message would be taken for one of the next file.
      const reading = readFile(file, ignoresColumns).finally(() => signal.throwIfAborted());
      const found = await reading.catch((error: Error) => {
        if (error.cause instanceof UnknownColumnsError) {
          show('leave-out', true);
          getElement('leave-out', HTMLElement).focus();
        }
        throw error;
      });
      write('progress-text', 'Looking for its first pets in the store');
      showFound(found, await countKnown(found, signal));
      this.#file = found;
    });
  }

  async add(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    this.#file = undefined;
    this.#isAdding = true;
    await this.#do(async (signal) => write('file-added', await sendPets(file, signal)));
  }

  stop(): void {
    this.#work.abort();
  }

  async #do(act: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.stop();
    const work = new AbortController();
    this.#work = work;
    // What has the focus may be hidden now.
    getElement('file', HTMLInputElement).focus();
    write('file-added', '');
    show('found', false);
    show('leave-out', false);
    getElement('progress-bar', HTMLProgressElement).removeAttribute('value');
    show('progress', true);
    try {
      await act(work.signal);
    } finally {
      // Ends what is still sent after an error.
      work.abort();
      if (this.#work === work) {
        this.#isAdding = false;
        show('progress', false);
      }
    }
  }
}

function showFound(file: PetFile, known: number): void {
  const { name, pets, warnings } = file;
  const { length } = pets;
  const count = `${length} ${length === 1 ? 'pet' : 'pets'}`;
  const [first] = pets.map((pet) => toJson(pet));
  write('found-text', [`${name} has ${count}. The first one: ${first}`, ...warnings].join('\n'));
  write('known', known === 1 ? 'pet' : `${known} pets`);
  show('found-known', known > 0);
  write('command', createCommand(file));
  show('found-many', length > MANY && known === 0);
  write('add-all', `Add ${count}`);
  show('found', true);
  getElement('add-all', HTMLButtonElement).focus();
}

function createCommand({ name, format, ignoresColumns }: PetFile): string {
  // It would be taken for an option.
  const path = name.replace(/^-/, './-');
  const parts = ['petstore pets import', /[^\w./-]/.test(path) ? quote(path) : path];
  // The command line would find no format, or another one. The first character begins no ending.
  if (!name.slice(1).toLowerCase().endsWith(`.${format}`)) parts.push(`--format ${format}`);
  if (ignoresColumns) parts.push('--ignore-columns');
  return parts.join(' ');
}

export function onFile(take: (file: File, second?: File) => void): void {
  const input = getElement('file', HTMLInputElement);
  input.addEventListener('change', () => {
    const [file] = input.files ?? [];
    // Without this, the browser would not tell if the same file is chosen again.
    input.value = '';
    if (file) take(file);
  });
  // On the whole page: a browser leaves the page for a file that is dropped beside the field.
  for (const type of ['dragover', 'dragleave', 'drop'] as const) {
    document.addEventListener(type, (event) => {
      if (event.dataTransfer?.types.includes('Files') !== true) return;
      event.preventDefault();
      document.body.classList.toggle('dragging', type === 'dragover');
      const [file, second] = event.dataTransfer.files;
      if (type === 'drop' && file) take(file, second);
    });
  }
}

export const keepExample = () => keepCsv('example.csv', PLAIN, generatePets(SAMPLES));
