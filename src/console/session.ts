/** What belongs to this tab: its key, and the fragment of its address, which a browser never sends. */

const KEY_ITEM = 'petstore-api-key';

/** The text is empty without a key, and if the browser blocks site data. */
export function findKey(): string {
  try {
    return sessionStorage.getItem(KEY_ITEM) ?? '';
  } catch {
    return '';
  }
}

export function keepKey(key: string): void {
  try {
    sessionStorage.setItem(KEY_ITEM, key);
  } catch (cause) {
    const reason = 'the browser blocks site data of this page. Allow it, then load the page again';
    throw new Error(`key cannot be kept: ${reason}`, { cause });
  }
}

export const forgetKey = () => sessionStorage.removeItem(KEY_ITEM);

export const readAddress = () => new URLSearchParams(location.hash.slice(1));

/** The address of the same list, with this pet open or with none. */
export function toPetAddress(id?: bigint): string {
  const address = readAddress();
  address.delete('pet');
  if (id !== undefined) address.set('pet', String(id));
  return `#${address}`;
}

/** The key of a link; null without one. It leaves the address at once, so that nobody sees it there later. */
export function takeKey(): string | null {
  const address = readAddress();
  const key = address.get('key');
  address.delete('key');
  if (key !== null) history.replaceState(null, '', `#${address}`);
  return key;
}
