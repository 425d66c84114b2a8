/** Shows a request as a line of curl to copy, without the key, and how it was answered. */

import { getElement } from './elements.ts';

/** Sends requests, and shows the last one in the footer of the place. */
export function createFetch(place: string): typeof fetch {
  return async (url, init = {}) => {
    const startedAt = performance.now();
    const tell = (answer: string, isOk: boolean) =>
      showRequest(place, toCurl(String(url), init), answer, isOk);
    try {
      const response = await fetch(url, init);
      const { status, ok, headers } = response;
      const ms = Math.max(1, Math.round(performance.now() - startedAt));
      tell(`${status} in ${ms} ms, X-Request-Id ${headers.get('x-request-id')}`, ok);
      return response;
    } catch (error) {
      if (!init.signal?.aborted) tell('no answer', false);
      throw error;
    }
  };
}

function showRequest(place: string, line: string, answer: string, isOk: boolean): void {
  const footer = getElement(place, HTMLElement).querySelector<HTMLElement>('.request');
  const [code, , facts] = footer?.children ?? [];
  if (!footer || !code || !facts) return;
  footer.hidden = false;
  code.textContent = line;
  facts.textContent = answer;
  facts.className = isOk ? 'good' : 'error';
}

function toCurl(url: string, { method, headers, body }: RequestInit): string {
  const parts = [`curl ${quote(url)}`];
  for (const [name, value] of new Headers(headers)) {
    const field = name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
    const isKey = name === 'authorization';
    parts.push(`-H ${isKey ? '"Authorization: Bearer $KEY"' : quote(`${field}: ${value}`)}`);
  }
  if (body) parts.push(`-d ${quote(String(body))}`);
  else if (method !== 'GET') parts.push(`-X ${method}`);
  return parts.join(' ');
}

/** A word of a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Copies the text before a button. Browsers have `navigator.clipboard` only on pages with HTTPS. */
export function copyBefore(button: HTMLElement): void {
  const code = button.previousElementSibling;
  if (code === null) return;
  getSelection()?.selectAllChildren(code);
  if (!document.execCommand('copy')) return;
  button.textContent = 'Copied';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 1_500);
}
