/** A client whose requests the page shows, each as a line of curl without the key, and how it was answered. */

import { PetstoreClient, type PetstoreClientOptions } from '../../client/petstore-client.ts';
import { getElement } from './elements.ts';
import { findKey } from './session.ts';

const NO_ANSWER = 'no answer: see whether the service runs';

/** A client with the key of this moment. @param place the id of the element that shows its last request. */
export function createClient(
  place: string,
  options: Partial<PetstoreClientOptions> = {},
): PetstoreClient {
  return new PetstoreClient({
    // A proxy may serve the pages under a path.
    baseUrl: new URL('../v1', document.baseURI).href,
    apiKey: findKey(),
    fetch: async (url, init = {}) => {
      const startedAt = performance.now();
      const line = toCurl(String(url), init);
      showRequest(place, line, 'waiting…');
      const response = await fetch(url, init).catch((error) => {
        showRequest(place, line, error.name === 'AbortError' ? 'stopped' : NO_ANSWER);
        throw error;
      });
      const ms = Math.max(1, Math.round(performance.now() - startedAt));
      const id = response.headers.get('x-request-id');
      showRequest(place, line, `${response.status} in ${ms} ms, X-Request-Id ${id}`);
      return response;
    },
    ...options,
  });
}

function showRequest(place: string, line: string, answer: string): void {
  const footer = getElement(place, HTMLElement).querySelector<HTMLElement>('.request');
  footer?.querySelector('code')?.replaceChildren(line);
  footer?.querySelector('span')?.replaceChildren(answer);
  footer?.removeAttribute('hidden');
}

function toCurl(url: string, { headers, body }: RequestInit): string {
  const parts = [`curl ${quote(url)}`];
  for (const [name, value] of new Headers(headers)) {
    const field = name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
    const isKey = name === 'authorization';
    parts.push(`-H ${isKey ? '"Authorization: Bearer $KEY"' : quote(`${field}: ${value}`)}`);
  }
  if (body) parts.push(`-d ${quote(String(body))}`);
  return parts.join(' ');
}

export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Copies the text before a button. Browsers have `navigator.clipboard` only on pages with HTTPS. */
export function copyBefore(button: HTMLElement): void {
  getSelection()?.selectAllChildren(button.previousElementSibling ?? button);
  if (document.execCommand('copy')) button.textContent = 'Copied';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 1_500);
}
