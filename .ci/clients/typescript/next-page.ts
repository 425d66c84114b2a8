/** The position of the next page, from the `Link` header of a list. */

/** The `cursor` of the next page; undefined on the last. */
export function findCursor(link: string | null | undefined): string | undefined {
  const address = /<([^>]*)>; rel="next"/.exec(link ?? '')?.[1] ?? '';
  return new URLSearchParams(address.split('?')[1]).get('cursor') ?? undefined;
}
