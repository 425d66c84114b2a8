/** The console: what its forms and buttons do. */

import { addFile } from './add-file.ts';
import { PetAdder } from './add-pet.ts';
import { focusFirst, getElement, readTexts, showMessage } from './elements.ts';
import { PetList } from './pet-list.ts';
import { findKey, forgetKey, keepKey } from './session.ts';

const KEY_REFUSED =
  'key is not accepted: it may be mistyped, expired, revoked, or of another environment';

const keyForm = getElement('key-form', HTMLFormElement);
const listForm = getElement('list-form', HTMLFormElement);
const findForm = getElement('find-form', HTMLFormElement);
const addForm = getElement('add-form', HTMLFormElement);
const fileForm = getElement('file-form', HTMLFormElement);
const fileInput = getElement('file', HTMLInputElement);
const forget = getElement('forget', HTMLElement);
const work = getElement('work', HTMLElement);

const petList = new PetList();
const petAdder = new PetAdder();

/** Runs an action. Its error is shown in the form; a refused key is shown beside the key. */
function run(form: HTMLFormElement, act: () => Promise<unknown>): void {
  for (const each of document.forms) showMessage(each, '');
  act().catch((error: Error) => {
    if (error.name === 'AbortError') return;
    const isKeyRefused = [error, error.cause].some((each) => Object(each).status === 401);
    if (!isKeyRefused) return showMessage(form, error.message);
    closeWork();
    // The next lines say how many pets were added.
    showMessage(keyForm, error.message.replace(/.*/, KEY_REFUSED));
  });
}

function onSubmit(form: HTMLFormElement, act: () => Promise<unknown>): void {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    run(form, act);
  });
}

function onClick(id: string, act: () => void): void {
  const button = getElement(id, HTMLElement);
  button.addEventListener('click', () => {
    if (button.ariaDisabled !== 'true') act();
  });
}

function showWork(isShown: boolean): void {
  forget.hidden = !isShown;
  keyForm.hidden = isShown;
  work.hidden = !isShown;
}

/** Opens the list and the forms if the service accepts the key. */
async function openWork(): Promise<void> {
  await petList.showAddress();
  keyForm.reset();
  showWork(true);
}

function closeWork(): void {
  forgetKey();
  showWork(false);
}

function takeFile(file: File | undefined): void {
  if (file === undefined || work.hidden) return;
  run(fileForm, async () => {
    await addFile(file);
    showListAgain();
  });
}

function showListAgain(): void {
  run(listForm, () => petList.show(petList.page));
}

onSubmit(keyForm, async () => {
  const text = readTexts(keyForm).get('key') ?? '';
  const key = text.trim().replace(/^Bearer +/i, '');
  if (!/^[!-~]+$/.test(key))
    throw new Error('key must be the text that petstore keys create prints');
  keepKey(key);
  await openWork().catch((error) => {
    // A second click has ended the first, and needs the key.
    if (error.name !== 'AbortError') closeWork();
    throw error;
  });
  focusFirst(addForm);
});
onSubmit(listForm, () => petList.open(1));
onSubmit(findForm, () => petList.find());
onSubmit(addForm, async () => {
  const pet = await petAdder.add();
  petList.table.mark(pet, `The new pet has the id ${pet.id}`);
  showListAgain();
});
listForm.addEventListener('change', () => run(listForm, () => petList.open(1)));
onClick('previous', () => run(listForm, () => petList.open(petList.page - 1)));
onClick('next', () => run(listForm, () => petList.open(petList.page + 1)));
onClick('go', () => run(listForm, () => petList.showMarked()));
window.addEventListener('popstate', () => {
  if (!work.hidden) run(listForm, () => petList.showAddress());
});
fileInput.addEventListener('change', () => {
  takeFile(fileInput.files?.[0]);
  // Without this, the browser would not tell if the same file is chosen again.
  fileInput.value = '';
});
// On the whole page: a browser leaves the page for a file that is dropped beside the field.
for (const type of ['dragover', 'dragleave', 'drop'] as const) {
  document.addEventListener(type, (event) => {
    if (event.dataTransfer?.types.includes('Files') !== true) return;
    event.preventDefault();
    document.body.classList.toggle('dragging', type === 'dragover');
    if (type === 'drop') takeFile(event.dataTransfer.files[0]);
  });
}
onClick('forget', () => {
  forgetKey();
  location.reload();
});

forget.hidden = findKey() === '';
if (forget.hidden) getElement('key', HTMLElement).focus();
else run(keyForm, openWork);
