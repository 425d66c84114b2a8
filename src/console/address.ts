/** The fragment of the address, which is never sent: the filters of the list, the pet that is open, or a key. */

export function readAddress(): URLSearchParams {
  return new URLSearchParams(location.hash.slice(1));
}

/** The address of the same list, with this pet open. */
export function toPetAddress(id?: bigint): string {
  const address = readAddress();
  if (id === undefined) address.delete('pet');
  else address.set('pet', String(id));
  return `#${address}`;
}

/** Changes the address without a new place in the history. */
export function replaceAddress(fragment: string): void {
  history.replaceState(null, '', fragment);
}

/** The key of a link. Whoever sees the address later does not see the key: it is removed at once. */
export function takeKey(): string | undefined {
  const address = readAddress();
  const key = address.get('key');
  if (key === null) return undefined;
  address.delete('key');
  replaceAddress(`#${address}`);
  return key;
}
