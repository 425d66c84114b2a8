/** The elements of the page: what its forms have, and the messages beside their fields. */

export function getElement<T extends HTMLElement>(id: string, type: new () => T): T {
  const element = document.getElementById(id);
  if (element instanceof type) return element;
  throw new Error(`the page has no ${type.name} with the id ${id}`);
}

type Field = HTMLInputElement | HTMLSelectElement;
const getFields = (form: HTMLFormElement) => form.querySelectorAll<Field>('input, select');

/** The texts of the fields that are filled in, by the names of the fields. */
export function readTexts(form: HTMLFormElement): URLSearchParams {
  const texts = new URLSearchParams();
  for (const { name, value, inputMode } of getFields(form)) {
    const text = inputMode === 'numeric' ? value.trim() : value;
    if (text !== '') texts.set(name, text);
  }
  return texts;
}

/** Fills in the fields that have a text, and resets the other fields. */
export function fillIn(form: HTMLFormElement, texts: URLSearchParams): void {
  form.reset();
  for (const field of getFields(form)) field.value = texts.get(field.name) ?? field.value;
}

export function focusFirst(form: HTMLFormElement): void {
  getFields(form)[0]?.focus();
}

/** Shows a text that screen readers say too. */
export function say(id: string, text: string): void {
  getElement(id, HTMLOutputElement).value = text;
}

export function createElement(tag: string, text: string, className = ''): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  element.className = className;
  return element;
}

/** Shows the message beside the field that its first word names, else at the end of the form, in place of the last one. */
export function showMessage(form: HTMLFormElement, message: string): void {
  const fields = [...form.querySelectorAll<HTMLInputElement>('[aria-describedby]')];
  const [name] = message.split(' ', 1);
  const wrong = fields.find((field) => field.name === name);
  for (const field of fields) {
    const place = getElement(field.getAttribute('aria-describedby') ?? '', HTMLElement);
    place.textContent = field === wrong ? message : '';
    field.setAttribute('aria-invalid', String(field === wrong));
  }
  form.querySelector('[role=alert]')?.replaceChildren(wrong ? '' : message);
  wrong?.focus();
}
