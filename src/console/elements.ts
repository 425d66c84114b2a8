/** The elements of the page: the texts of its forms, the messages beside their fields, its files to keep. */

export function getElement<T extends HTMLElement>(id: string, type: new () => T): T {
  const element = document.getElementById(id);
  if (element instanceof type) return element;
  throw new Error(`the page has no ${type.name} with the id ${id}`);
}

/** The texts of the fields that are filled in, by the names of the fields. */
export function readTexts(form: HTMLFormElement): URLSearchParams {
  const texts = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (typeof value !== 'string') continue;
    const isNumber = form.querySelector(`[name="${name}"][inputmode=numeric]`) !== null;
    const text = isNumber ? value.trim() : value;
    if (text !== '') texts.set(name, text);
  }
  return texts;
}

/** Fills in the fields that have a text, and resets the other fields. */
export function fillIn(form: HTMLFormElement, texts: URLSearchParams): void {
  form.reset();
  for (const [name, text] of texts) {
    const field = form.elements.namedItem(name);
    // Of chips, it checks the one with this text; without one, they stay as they are.
    if (field !== null && 'value' in field) field.value = text;
  }
}

/** Shows a text that screen readers say too. */
export function say(id: string, text: string): void {
  getElement(id, HTMLOutputElement).value = text;
}

export function show(id: string, isShown: boolean): void {
  getElement(id, HTMLElement).hidden = !isShown;
}

export function write(id: string, text: string): void {
  getElement(id, HTMLElement).textContent = text;
}

export function createElement(tag: string, text: string, className = ''): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  element.className = className;
  return element;
}

/**
 * Shows a message, in place of the last one. The first word of each part may name a field, as in "name is required;
 * categoryId is required": this part is shown beside its field, the others at the end.
 */
export function showMessage(place: HTMLElement, message: string): void {
  const parts = message.split('; ');
  const wrong: HTMLElement[] = [];
  for (const field of place.querySelectorAll<HTMLInputElement>('[aria-describedby]')) {
    const index = parts.findIndex((part) => part.split(' ', 1)[0] === field.name);
    const [text = ''] = index < 0 ? [] : parts.splice(index, 1);
    getElement(field.getAttribute('aria-describedby') ?? '', HTMLElement).textContent = text;
    field.setAttribute('aria-invalid', String(index >= 0));
    if (index >= 0) wrong.push(field);
  }
  place.querySelector('[role=alert]')?.replaceChildren(parts.join('; '));
  wrong[0]?.focus();
}

/** Lets the browser keep a text as a CSV file. */
export function keepFile(name: string, pieces: readonly string[]): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([...pieces], { type: 'text/csv' }));
  link.download = name;
  link.click();
  // Browsers read it after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
