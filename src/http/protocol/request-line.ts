/** The request line: the methods that the service takes, and which targets reach the router. */

export const SERVED_METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS'] as const;

/** Whether it is origin-form or absolute-form (RFC 9112 section 3.2), with an authority that {@link escapeTarget} keeps. */
export function isTarget(url: string): boolean {
  return url.startsWith('/') || (/^https?:\/\/[^/?%]+(?:[/?]|$)/i.test(url) && URL.canParse(url));
}

/**
 * The target as Fastify's router takes it literally: it would refuse a bad percent-escape before any hook, and cut off a
 * `#`. For a bad target it is the first page, since a hook refuses the request.
 */
export function escapeTarget(url: string): string {
  if (!isTarget(url)) return '/';
  const target = url.replaceAll('#', '%23');
  try {
    decodeURIComponent(target.replace(/\?.*/s, ''));
    return target;
  } catch {
    return target.replaceAll('%', '%25');
  }
}
