/** The files that pages and the document are made of, what every page has in its head, and what their routes share. */

import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';

const PAW =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="#c2571a"><ellipse cx="16" cy="22" rx="8" ry="7"/><circle cx="5" cy="15" r="3.5"/><circle cx="12" cy="8" r="3.5"/><circle cx="20" cy="8" r="3.5"/><circle cx="27" cy="15" r="3.5"/></svg>';

const HEAD = `<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(PAW)}">`;

const PAGE_PARTS = { head: HEAD, paw: PAW.replace('<svg', '<svg aria-hidden="true"') };

/** The fields of a page: it may run only these scripts and styles, and send requests only to this service. */
export function createPageHeaders(scripts: string, styles: string) {
  const policy = `default-src 'none'; script-src ${scripts}; style-src ${styles}; img-src data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;
  return { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy };
}

/** A script whose name changes with its bytes: a browser keeps it for a year. */
export const KEPT_SCRIPT = {
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': 'public, max-age=31536000, immutable',
};

/** The redirect is relative, so that it also works behind a proxy that serves this under a path of its own. */
export function redirectToFolder(app: FastifyInstance, name: string): void {
  app.get(`/${name}`, (_request, reply) => reply.redirect(`${name}/`, 301));
}

/** A text of the program. @param path from `src/`. */
export function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

/** A text whose comments such as `<!-- fields -->` are replaced by parts. @param path from `src/`. */
export function readTemplate(
  path: string,
  parts: Readonly<Record<string, string | number>> = {},
): string {
  const all: typeof parts = { ...PAGE_PARTS, ...parts };
  return read(path).replace(/<!-- (\w+) -->/g, (comment, name) => String(all[name] ?? comment));
}
