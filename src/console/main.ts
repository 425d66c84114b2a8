/** The console: what its forms and buttons do. */

import { API_KEY } from '../../client/client-options.ts';
import { findCanonicalInt64, INT64_MAX } from '../int64.ts';
import { FileAdder, keepExample, onFile } from './add-file.ts';
import { PetAdder } from './add-pet.ts';
import { copyBefore } from './client.ts';
import { getElement, readTexts, show, showMessage } from './elements.ts';
import { PetList } from './pet-list.ts';
import { PetPanel } from './pet-panel.ts';
import { findKey, forgetKey, keepKey, readAddress, takeKey, toPetAddress } from './session.ts';

const KEY_REFUSED =
  'key is not accepted: it may be mistyped, expired, revoked, or of another environment';

const keyForm = getElement('key-form', HTMLFormElement);
const listForm = getElement('list-form', HTMLFormElement);
const findForm = getElement('find-form', HTMLFormElement);
const addForm = getElement('add-form', HTMLFormElement);
const fileForm = getElement('file-form', HTMLFormElement);
const fileDialog = getElement('from-file', HTMLDialogElement);

const petList = new PetList(showMore);
const petPanel = new PetPanel();
const petAdder = new PetAdder();
const fileAdder = new FileAdder();

/** Runs an action to its end. Its error is shown in its place; a refused key is shown beside the key. */
function attempt(place: HTMLElement, act: () => Promise<unknown>): Promise<unknown> {
  showMessage(place, '');
  return act().catch((error: Error) => {
    if (error.name === 'AbortError') return;
    const isKeyRefused = [error, error.cause].some((each) => Object(each).status === 401);
    if (isKeyRefused) forgetKey();
    if (isKeyRefused || place === keyForm) showPart('key');
    const retry = place.querySelector<HTMLElement>('.retry');
    if (retry) retry.onclick = () => attempt(place, act);
    if (!isKeyRefused) return showMessage(place, error.message);
    // The next lines say how many pets were added.
    showMessage(keyForm, error.message.replace(/.*/, KEY_REFUSED));
  });
}

function onSubmit(form: HTMLFormElement, act: () => Promise<unknown>): void {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    attempt(form, act);
  });
}

function onClick(selector: string, act: (button: HTMLElement) => void): void {
  for (const button of document.querySelectorAll<HTMLElement>(selector)) {
    button.addEventListener('click', () => act(button));
  }
}

function showPart(part: 'key' | 'work'): void {
  document.body.dataset.part = part;
  closeDialogs();
  show('forget', findKey() !== '');
  getElement(part === 'key' ? 'key' : 'list', HTMLElement).focus();
  // It was typed when the key was refused.
  if (part === 'work' && readTexts(addForm).size > 0) openAdd();
}

function closeDialogs(): void {
  for (const dialog of document.querySelectorAll('dialog')) dialog.close();
}

function openAdd(): void {
  getElement('add', HTMLDialogElement).showModal();
  petAdder.focus();
}

const isOpen = () => document.body.dataset.part === 'work';

async function useKey(text: string): Promise<void> {
  const key = text.trim().replace(/^Bearer +/i, '');
  if (!API_KEY.test(key)) throw new Error('key must be the text that petstore keys create prints');
  keepKey(key);
  await showAddress(true);
}

/** Takes the key of the address, or shows its list and its pet. A link, Back or a person has changed it. */
function followAddress(): void {
  const key = takeKey();
  if (key !== null) attempt(keyForm, () => useKey(key));
  else if (findKey() === '') showPart('key');
  else attempt(isOpen() ? listForm : keyForm, () => showAddress());
}

async function showAddress(isNewKey = false): Promise<void> {
  const address = readAddress();
  await petList.open(address, isNewKey);
  keyForm.reset();
  if (!isOpen()) showPart('work');
  const id = findCanonicalInt64(address.get('pet') ?? '');
  if (id === undefined) petPanel.dialog.close();
  else attempt(petPanel.dialog, () => petPanel.open(id, petList.pets.get(id)));
}

function showMore(): void {
  attempt(listForm, () => petList.showMore());
}

// So that keys can scroll it in every browser.
getElement('list', HTMLElement).tabIndex = 0;
onSubmit(keyForm, () => useKey(readTexts(keyForm).get('key') ?? ''));
onSubmit(listForm, async () => {
  location.hash = String(readTexts(listForm));
});
listForm.addEventListener('change', () => listForm.requestSubmit());
onSubmit(findForm, async () => {
  const id = findCanonicalInt64(readTexts(findForm).get('id')?.trim() ?? '');
  if (id === undefined) throw new Error(`id must be a whole number up to ${INT64_MAX}`);
  findForm.reset();
  location.hash = toPetAddress(id);
});
onSubmit(addForm, async () => petList.addFirst(await petAdder.add()));
onSubmit(fileForm, async () => {
  await attempt(fileForm, () => fileAdder.add());
  // The key was refused: this is told beside the key.
  if (!isOpen()) return;
  // A person may have closed it meanwhile.
  if (!fileDialog.open) fileDialog.showModal();
  attempt(listForm, () => petList.reload());
});
// The second click of a double click would meet the button that the first one shows: Stop is where Add was.
const ignoreSecond = (event: MouseEvent) => {
  if (event.detail !== 2) return;
  event.preventDefault();
  event.stopPropagation();
};
fileForm.addEventListener('click', ignoreSecond, true);
onClick('#open-add', openAdd);
onClick('#open-file', () => fileDialog.showModal());
onClick('#stop', () => fileAdder.stop());
onClick('#next', showMore);
onClick('#download', () => attempt(listForm, () => petList.download()));
onClick('.close', (button) => button.closest('dialog')?.close());
onClick('.copy', copyBefore);
onClick('.example', () => void keepExample());
onClick('#forget', () => {
  forgetKey();
  location.reload();
});
onFile((file, second) => {
  if (!isOpen()) return;
  closeDialogs();
  fileDialog.showModal();
  attempt(fileForm, () => fileAdder.read(file, second));
  getElement('leave-out', HTMLElement).onclick = () =>
    attempt(fileForm, () => fileAdder.read(file, undefined, true));
});
window.addEventListener('hashchange', followAddress);
followAddress();
