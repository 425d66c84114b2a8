/** The console: what its forms and buttons do, through the typed client. */

import {
  type NewPet,
  type Pet,
  type PetStatus,
  PetstoreClientError,
} from '../client/petstore-client.ts';
import { findCanonicalInt64, INT64_MAX } from '../int64.ts';
import { JsonNumber } from '../json.ts';
import { NEW_PET_FIELDS, PET_STATUSES } from '../pet.ts';
import { addFile, stopAdding } from './add-file.ts';
import { createElement, getElement, readField, readLabel, say, showMessage } from './page.ts';
import { createClient, findKey, forgetKey, keepKey } from './service.ts';

/** What tells that a field is wrong, and not that the service could not look at it. */
const FIELD_STATUSES = [400, 401];
const KEY_REFUSED =
  'The service does not accept this key: it may be mistyped, expired, revoked, or of another environment.';

const keyForm = getElement('key-form', HTMLFormElement);
const listForm = getElement('list-form', HTMLFormElement);
const findForm = getElement('find-form', HTMLFormElement);
const addForm = getElement('add-form', HTMLFormElement);
const fileForm = getElement('file-form', HTMLFormElement);
const fileInput = getElement('file', HTMLInputElement);
const forget = getElement('forget', HTMLElement);
const work = getElement('work', HTMLElement);
const previous = getElement('previous', HTMLElement);
const following = getElement('next', HTMLElement);

let client = createClient(findKey());
/** The cursors of the pages up to the one that is shown; the first page has none. */
let cursors: readonly (string | undefined)[] = [undefined];
let next: string | undefined;
let listing = new AbortController();
let addKey = createIdempotencyKey();

/** Runs it; what goes wrong is told in the form, or beside the key when that is refused. */
function run(form: HTMLFormElement, act: () => Promise<unknown>): void {
  showMessage(form, '');
  act().catch((error: Error) => {
    if (error.name === 'AbortError') return;
    const refused = [error, error.cause].find((each) => each instanceof PetstoreClientError);
    const isOfField = refused === undefined || FIELD_STATUSES.includes(refused.status);
    if (refused?.status !== 401) return showMessage(form, error.message, isOfField);
    closeWork();
    // The next lines say what was done with the key before.
    showMessage(keyForm, error.message.replace(/.*/, KEY_REFUSED));
  });
}

function onSubmit(form: HTMLFormElement, act: () => Promise<unknown>): void {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    run(form, act);
  });
}

async function openWork(key: string): Promise<void> {
  client = createClient(key);
  await list([undefined]);
  keepKey(key);
  forget.hidden = false;
  keyForm.reset();
  keyForm.hidden = true;
  work.hidden = false;
}

function closeWork(): void {
  forgetKey();
  forget.hidden = true;
  keyForm.hidden = false;
  work.hidden = true;
}

/** Shows the page after the last of these cursors; a page that is still being read is given up. */
async function list(asked = cursors): Promise<void> {
  listing.abort();
  listing = new AbortController();
  const status = readField(listForm, 'status') as PetStatus | '';
  const page = await client.listPage({
    ...(status !== '' && { status }),
    ...{ limit: Number(readField(listForm, 'limit')), cursor: asked.at(-1) },
    signal: listing.signal,
  });
  cursors = asked;
  next = page.next;
  const { length } = page.pets;
  showPets(page.pets, `Page ${asked.length}: ${length} ${length === 1 ? 'pet' : 'pets'}`);
}

function showPets(pets: readonly Pet[], words: string): void {
  const rows = pets.map((pet) => {
    const row = document.createElement('tr');
    const cell = (name: keyof Pet) =>
      createElement(name === 'id' ? 'th' : 'td', String(pet[name] ?? ''));
    row.append(cell('id'), ...NEW_PET_FIELDS.map(({ name }) => cell(name)));
    return row;
  });
  getElement('pets', HTMLElement).replaceChildren(...rows);
  say('shown', words);
  // Not `disabled`, which would take the focus from who pages by keyboard.
  previous.setAttribute('aria-disabled', String(cursors.length === 1));
  following.setAttribute('aria-disabled', String(next === undefined));
}

function createIdempotencyKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}

async function add(): Promise<void> {
  say('added', '');
  const members: Record<string, unknown> = {};
  for (const { name, kind, optional, parse } of NEW_PET_FIELDS) {
    const text = readField(addForm, name);
    if (text === '' && optional) continue;
    if (text === '') throw new Error(`${readLabel(addForm, name)} is missing`);
    // A bigint can be made of an int64 alone; all else the service judges.
    members[name] = kind === 'int64' ? parse(new JsonNumber(text.trim())) : text;
  }
  const idempotencyKey = addKey;
  const pet = await client.create(members as unknown as NewPet, { idempotencyKey });
  // Else something was typed meanwhile, which is another pet.
  if (addKey === idempotencyKey) {
    addKey = createIdempotencyKey();
    addForm.reset();
  }
  say('added', `${pet.name} was added with the id ${pet.id}.`);
  run(listForm, list);
}

async function find(): Promise<void> {
  const id = findCanonicalInt64(readField(findForm, 'id').trim());
  if (id === undefined) throw new Error(`id must be a whole number up to ${INT64_MAX}`);
  listing.abort();
  listing = new AbortController();
  const found = await client.get(id, { signal: listing.signal }).catch((error) => {
    if (error.code !== 'not_found') throw error;
  });
  cursors = [undefined];
  next = undefined;
  showPets(found ? [found] : [], found ? `The pet with the id ${id}` : '');
  if (!found) throw new Error(`There is no pet with the id ${id}.`);
}

function takeFile(file: File | undefined): void {
  if (file === undefined || work.hidden) return;
  run(fileForm, async () => {
    await addFile(file);
    showMessage(fileForm, '');
    run(listForm, list);
  });
}

onSubmit(keyForm, async () => {
  const key = readField(keyForm, 'key')
    .trim()
    .replace(/^Bearer +/i, '');
  if (!/^[!-~]+$/.test(key)) throw new Error('Paste a key, as petstore keys create prints it.');
  await openWork(key);
  getElement('list-status', HTMLElement).focus();
});
onSubmit(listForm, () => list([undefined]));
onSubmit(findForm, find);
onSubmit(addForm, add);
listForm.addEventListener('change', () => run(listForm, () => list([undefined])));
addForm.addEventListener('input', () => {
  addKey = createIdempotencyKey();
});
previous.addEventListener('click', () => {
  if (cursors.length > 1) run(listForm, () => list(cursors.slice(0, -1)));
});
following.addEventListener('click', () => {
  if (next !== undefined) run(listForm, () => list([...cursors, next]));
});
fileInput.addEventListener('change', () => {
  takeFile(fileInput.files?.[0]);
  // Choosing the same file again is a change then, too.
  fileInput.value = '';
});
// Anywhere: a browser would leave the page for a file that is dropped beside the field.
for (const type of ['dragover', 'dragleave', 'drop'] as const) {
  document.addEventListener(type, (event) => {
    if (event.dataTransfer?.types.includes('Files') !== true) return;
    event.preventDefault();
    document.body.classList.toggle('dragging', type === 'dragover');
    if (type === 'drop') takeFile(event.dataTransfer.files[0]);
  });
}
getElement('stop', HTMLElement).addEventListener('click', () => {
  stopAdding();
  fileInput.focus();
});
forget.addEventListener('click', () => {
  forgetKey();
  location.reload();
});

for (const id of ['list-status', 'status']) {
  getElement(id, HTMLSelectElement).append(...PET_STATUSES.map((status) => new Option(status)));
}
forget.hidden = findKey() === '';
if (!forget.hidden) run(keyForm, () => openWork(findKey()));
