/** The service as the console sees it: the key of the tab, the client, and the last answers. */

import { PetstoreClient } from '../../client/petstore-client.ts';
import { createElement, getElement } from './elements.ts';

const KEY_ITEM = 'petstore-api-key';
const ANSWERS_MAX = 20;

/** Empty when there is none. */
export const findKey = () => sessionStorage.getItem(KEY_ITEM) ?? '';
export const keepKey = (key: string) => sessionStorage.setItem(KEY_ITEM, key);
export const forgetKey = () => sessionStorage.removeItem(KEY_ITEM);

/** @param onAnswer is called with each answer, or without one when none came. */
export function createClient(
  apiKey: string,
  onAnswer: (response?: Response) => void = () => {},
): PetstoreClient {
  return new PetstoreClient({
    // Below the path that a proxy may have put in front.
    baseUrl: new URL('../v1', document.baseURI).href,
    apiKey,
    async fetch(input, init) {
      const startedAt = performance.now();
      const response = await fetch(input, init).catch((error) => {
        onAnswer();
        throw error;
      });
      const { pathname, search } = new URL(response.url);
      showAnswer(`${init?.method} ${pathname}${search}`, response, performance.now() - startedAt);
      onAnswer(response);
      return response;
    },
  });
}

function showAnswer(request: string, { status, headers }: Response, ms: number): void {
  const left = /;r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1];
  const limit = left === undefined ? 'no rate limit' : `${left} more requests now`;
  const time = `${new Date().toLocaleTimeString()}, after ${Math.round(ms)} ms`;
  const text = `${request}: ${status} at ${time}, request ${headers.get('x-request-id')}, ${limit}`;
  const list = getElement('answers', HTMLElement);
  list.prepend(createElement('li', text));
  list.children.item(ANSWERS_MAX)?.remove();
}
