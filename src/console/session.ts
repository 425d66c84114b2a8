/** The key of this tab, the client, and its last answers. */

import {
  type ClientResponse,
  PetstoreClient,
  type PetstoreClientOptions,
} from '../../client/petstore-client.ts';
import { createElement, getElement } from './elements.ts';

const KEY_ITEM = 'petstore-api-key';
const ANSWERS_MAX = 20;

/** The key; empty if there is none. */
export const findKey = () => sessionStorage.getItem(KEY_ITEM) ?? '';
export const keepKey = (key: string) => sessionStorage.setItem(KEY_ITEM, key);
export const forgetKey = () => sessionStorage.removeItem(KEY_ITEM);

type Hooks = Pick<PetstoreClientOptions, 'onRequest' | 'onResponse'>;

/** A client with the key of this moment. */
export function createClient(hooks: Hooks = {}): PetstoreClient {
  return new PetstoreClient({
    // A proxy may serve the pages under a path.
    baseUrl: new URL('../v1', document.baseURI).href,
    apiKey: findKey(),
    ...hooks,
    onResponse(response) {
      showAnswer(response);
      return hooks.onResponse?.(response);
    },
  });
}

function showAnswer({ request, status, headers, ms }: ClientResponse): void {
  const { pathname, search } = new URL(request.url);
  const left = /;r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1];
  const limit = left === undefined ? 'no rate limit' : `${left} more requests now`;
  const time = `${new Date().toLocaleTimeString()}, after ${Math.round(ms)} ms`;
  const answered = `${request.method} ${pathname}${search}: ${status} at ${time}`;
  const text = `${answered}, request ${headers.get('x-request-id')}, ${limit}`;
  const list = getElement('answers', HTMLElement);
  list.prepend(createElement('li', text));
  list.children.item(ANSWERS_MAX)?.remove();
}
