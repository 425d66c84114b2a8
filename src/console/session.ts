/** The key of this tab, and a client with it, whose requests are shown. */

import { PetstoreClient, type PetstoreClientOptions } from '../../client/petstore-client.ts';
import { createFetch } from './request-line.ts';

const KEY_ITEM = 'petstore-api-key';

/** The key; empty if there is none. */
export const findKey = () => sessionStorage.getItem(KEY_ITEM) ?? '';
export const keepKey = (key: string) => sessionStorage.setItem(KEY_ITEM, key);
export const forgetKey = () => sessionStorage.removeItem(KEY_ITEM);

/** A client with the key of this moment. @param place the id of the element that shows its last request. */
export function createClient(
  place: string,
  options: Partial<PetstoreClientOptions> = {},
): PetstoreClient {
  return new PetstoreClient({
    // A proxy may serve the pages under a path.
    baseUrl: new URL('../v1', document.baseURI).href,
    apiKey: findKey(),
    fetch: createFetch(place),
    ...options,
  });
}
