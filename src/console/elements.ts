/** The elements of the page: the texts of its forms, and the messages beside their fields. */

import { cut } from '../error.ts';

export function getElement<T extends HTMLElement>(id: string, type: new () => T): T {
  const element = document.getElementById(id);
  if (element instanceof type) return element;
  throw new Error(`the page has no ${type.name} with the id ${id}`);
}

export function readTexts(form: HTMLFormElement): URLSearchParams {
  const texts = [...new FormData(form)].map(([name, text]) => [name, String(text)]);
  return new URLSearchParams(texts.filter(([, text]) => text !== ''));
}

export function fillIn(form: HTMLFormElement, texts: URLSearchParams): void {
  form.reset();
  for (const [name, text] of texts) {
    const field = form.elements.namedItem(name);
    // Chips without this text stay as they are.
    if (field !== null && 'value' in field) field.value = text;
  }
}

export function show(id: string, isShown: boolean): void {
  getElement(id, HTMLElement).hidden = !isShown;
}

export function write(id: string, text: string): void {
  getElement(id, HTMLElement).textContent = text;
}

/** The text, or the codes of its characters if none of them can be seen. */
export function toVisible(text: string): string {
  if (/[^\s\p{Cc}\p{DI}\u2800]/u.test(text)) return text;
  const codes = Array.from(text, (each) => each.codePointAt(0)?.toString(16).padStart(4, '0'));
  return cut(codes.map((code) => `U+${code?.toUpperCase()}`).join(' '));
}

export function createElement(tag: string, text: string, className = ''): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = toVisible(text);
  // The first letter decides.
  element.dir = 'auto';
  element.className = className;
  return element;
}

/** The first word of each part of a message may name a field: this part is shown beside it, the others at the end. */
export function showMessage(place: HTMLElement, message: string): void {
  const parts = message.split('; ');
  for (const field of place.querySelectorAll<HTMLInputElement>('[aria-describedby]')) {
    const index = parts.findIndex((part) => part.split(' ', 1)[0] === field.name);
    const [text = ''] = index < 0 ? [] : parts.splice(index, 1);
    write(field.getAttribute('aria-describedby') ?? '', text);
    field.setAttribute('aria-invalid', String(index >= 0));
  }
  place.querySelector('[role=alert]')?.replaceChildren(parts.join('; '));
  place.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
}
