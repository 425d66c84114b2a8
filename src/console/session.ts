/** The key of this tab, and a client with it. */

import { PetstoreClient, type PetstoreClientOptions } from '../../client/petstore-client.ts';

const KEY_ITEM = 'petstore-api-key';

/** The key; empty if there is none. */
export const findKey = () => sessionStorage.getItem(KEY_ITEM) ?? '';
export const keepKey = (key: string) => sessionStorage.setItem(KEY_ITEM, key);
export const forgetKey = () => sessionStorage.removeItem(KEY_ITEM);

/** A client with the key of this moment. */
export function createClient(options: Partial<PetstoreClientOptions> = {}): PetstoreClient {
  return new PetstoreClient({
    // A proxy may serve the pages under a path.
    baseUrl: new URL('../v1', document.baseURI).href,
    apiKey: findKey(),
    ...options,
  });
}
