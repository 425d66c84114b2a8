/** The files that pages and the document are made of, and what every page has in its head. */

import { readFileSync } from 'node:fs';

const PAW =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="#c2571a"><ellipse cx="16" cy="22" rx="8" ry="7"/><circle cx="5" cy="15" r="3.5"/><circle cx="12" cy="8" r="3.5"/><circle cx="20" cy="8" r="3.5"/><circle cx="27" cy="15" r="3.5"/></svg>';

const HEAD = `<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(PAW)}">`;

const PAGE_PARTS = { head: HEAD, paw: PAW.replace('<svg', '<svg aria-hidden="true"') };

/** A page may run only these scripts and styles, and send requests only to this service. */
export function createPolicy(scripts: string, styles: string): string {
  return `default-src 'none'; script-src ${scripts}; style-src ${styles}; img-src data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;
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
