/** The console at `/console/`: its page, and its files in a folder whose name changes with them. */

import { hash } from 'node:crypto';
import { stripTypeScriptTypes } from 'node:module';
import { extname, posix } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { NEW_PET_FIELDS, type NewPetField } from '../../pet.ts';
import { PET_FILTERS } from '../../pet-query.ts';
import { IDEMPOTENCY_MS } from '../../store.ts';
import { NOTHING_HERE } from './fallback.ts';
import { createPageHeaders, KEPT_SCRIPT, read, readTemplate, redirectToFolder } from './page.ts';

/** TypeScript in the checkout, JavaScript in the package. */
const MAIN = `console/main${extname(import.meta.url)}`;
const STYLES = ['console/elements.css', 'console/console.css', 'console/dialogs.css'];

const PAGE = createPageHeaders("'self'", "'self'");
const STYLE_TYPE = { 'content-type': 'text/css; charset=utf-8' };

const PARTS: Readonly<Record<string, string>> = {
  // The class aligns numbers.
  columns: NEW_PET_FIELDS.map(
    ({ kind, label }) => `<th scope="col" class="${kind}">${label}</th>`,
  ).join(''),
  filters: PET_FILTERS.map(writeFilter).join('\n'),
  fields: NEW_PET_FIELDS.map((field) => writeField(field, `new-${field.name}`)).join('\n'),
  names: NEW_PET_FIELDS.map(
    ({ name, optional }) => `<code>${name}</code>${optional ? ' (optional)' : ''}`,
  ).join(', '),
  hours: String(IDEMPOTENCY_MS / 3_600_000),
  // Shows the request that its place has made.
  request: `<footer class="request" hidden><code></code>
<button type="button" class="copy">Copy</button> <span></span></footer>`,
};

function writeFilter(field: NewPetField): string {
  const { name, label, schema } = field;
  if (schema.enum === undefined) return writeField(field, `list-${name}`);
  const chips = ['', ...schema.enum].map((value) => {
    const input = `<input type="radio" name="${name}" value="${value}"${value ? '' : ' checked'}>`;
    return `<label>${input}${value || 'all'}</label>`;
  });
  return `<div class="chips" role="radiogroup" aria-label="${label}">${chips.join('')}</div>`;
}

function writeField({ name, kind, label, schema }: NewPetField, id: string): string {
  const attributes = `id="${id}" name="${name}" aria-describedby="${id}-error"`;
  const options = schema.enum?.map((value) => `<option>${value}</option>`).join('');
  const input =
    options === undefined
      ? `<input ${attributes}${kind === 'int64' ? ' inputmode="numeric"' : ' dir="auto"'}>`
      : `<select ${attributes}><option value="">none</option>${options}</select>`;
  return `<p class="field"><label for="${id}">${label}</label>
${input}
<span class="error" id="${id}-error"></span></p>`;
}

export function addConsoleRoutes(app: FastifyInstance): void {
  let files: ReadonlyMap<string, string> | undefined;
  redirectToFolder(app, 'console');
  app.get<{ Params: { '*': string } }>('/console/*', (request, reply) => {
    const path = request.params['*'];
    files ??= readFiles();
    const text = files.get(path);
    if (text === undefined) throw NOTHING_HERE;
    const isStyle = path.endsWith('.css');
    return reply
      .headers({ ...PAGE, ...(path && KEPT_SCRIPT), ...(isStyle && STYLE_TYPE) })
      .send(text);
  });
}

/** What a module imports, also later by `import()`. */
const IMPORT = /\b(?:from |import |import\()'(\.[^']+)'/g;

/** By path; the page has the empty path. It names every file, so that a browser asks for all at once. A module runs once. */
function readFiles(): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const names = new Set([...STYLES, MAIN]);
  // A set also gives the names that are added meanwhile.
  for (const name of names) {
    const text = extname(name) === '.ts' ? stripTypeScriptTypes(read(name)) : read(name);
    texts.set(name, text);
    for (const [, path = ''] of text.matchAll(IMPORT)) names.add(posix.join(name, '..', path));
  }
  const folder = hash('sha256', [...texts.values()].join()).slice(0, 16);
  // The names of the files of the client begin with `../client/`, beside the sources.
  const files = [...texts].map(([name, text]) => [posix.join(folder, 'src', name), text] as const);
  const tags = files.map(([path]) =>
    path.endsWith('.css')
      ? `<link rel="stylesheet" href="${path}">`
      : `<script type="module" src="${path}"></script>`,
  );
  const page = readTemplate('console/index.html', { ...PARTS, files: tags.join('\n') });
  return new Map([['', page], ...files]);
}
