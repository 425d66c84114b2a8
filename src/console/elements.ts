/** What every part of the console does with the page: its elements, their texts, and the messages beside fields. */

import { type NewPetField, type PetFilters, parseFieldText } from '../pet.ts';

export function getElement<T extends HTMLElement>(id: string, type: new () => T): T {
  const element = document.getElementById(id);
  if (element instanceof type) return element;
  throw new Error(`the page has no ${type.name} with the id ${id}`);
}

export function readField(form: HTMLFormElement, name: string): string {
  return String(new FormData(form).get(name) ?? '');
}

/** What is filled in, by the names of the fields. */
export function readTexts(form: HTMLFormElement): URLSearchParams {
  const texts = new URLSearchParams();
  for (const [name, text] of new FormData(form)) if (text !== '') texts.set(name, String(text));
  return texts;
}

/** Fills in the fields that have a text; the others are as in a new form. */
export function fillIn(form: HTMLFormElement, texts: URLSearchParams): void {
  form.reset();
  for (const field of form.querySelectorAll<HTMLInputElement>('input, select')) {
    field.value = texts.get(field.name) ?? field.value;
  }
}

export function focusFirst(form: HTMLFormElement): void {
  form.querySelector<HTMLElement>('input, select')?.focus();
}

/** The values of the fields of a pet in a form, without empty ones. */
export function readFields(form: HTMLFormElement, fields: readonly NewPetField[]): PetFilters {
  const values: Record<string, unknown> = {};
  for (const field of fields) {
    const text = readField(form, field.name);
    if (text === '') continue;
    // A bigint can be made of an int64 alone; all else the service judges.
    values[field.name] = field.kind === 'int64' ? parseFieldText(field, text.trim()) : text;
  }
  return values;
}

function readLabel(form: HTMLFormElement, name: string): string {
  const field = form.querySelector<HTMLInputElement>(`[name="${name}"]`);
  return field?.labels?.[0]?.textContent ?? '';
}

/** Writes a text that a screen reader says, too. */
export function say(id: string, text: string): void {
  getElement(id, HTMLOutputElement).value = text;
}

export function createElement(
  tag: 'li' | 'span' | 'td' | 'th' | 'tr',
  text: string,
  className = '',
): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  element.className = className;
  return element;
}

/**
 * Shows the message beside the field that its first word, or words, name, or the only one that can be wrong;
 * else at the end of the form. An empty message takes the others away.
 *
 * @param isOfField whether a field can be the cause at all.
 */
export function showMessage(form: HTMLFormElement, message: string, isOfField = true): void {
  // Each field that can be wrong is described by the place of its message.
  const fields = [...form.querySelectorAll<HTMLInputElement>('[aria-describedby]')];
  const [word] = message.split(' ', 1);
  const named =
    fields.find(({ name }) => name === word || message.startsWith(readLabel(form, name))) ??
    (fields[1] ? undefined : fields[0]);
  const wrong = isOfField && message !== '' ? named : undefined;
  for (const field of fields) {
    const place = getElement(field.getAttribute('aria-describedby') ?? '', HTMLElement);
    place.textContent = field === wrong ? message : '';
    field.setAttribute('aria-invalid', String(field === wrong));
  }
  form.querySelector('[role=alert]')?.replaceChildren(wrong ? '' : message);
  wrong?.focus();
}
