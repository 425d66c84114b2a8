/** The console at `/console/`: its page, and its files in a folder whose name changes with them. */

import { hash } from 'node:crypto';
import { stripTypeScriptTypes } from 'node:module';
import { extname, posix } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { NEW_PET_FIELDS, type NewPetField } from '../../pet.ts';
import { PET_FILTERS } from '../../pet-query.ts';
import { NOTHING_HERE } from './fallback.ts';
import { createPolicy, read, readTemplate } from './page.ts';

/** TypeScript in the checkout, JavaScript in the package. */
const EXTENSION = extname(import.meta.url);
const MEDIA_TYPES: Readonly<Record<string, string>> = { '': 'text/html', '.css': 'text/css' };

const POLICY = createPolicy("'self'", "'self'");

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
  // Shows the request that its place has made.
  request: `<footer class="request" hidden><code></code>
<button type="button" class="copy">Copy</button> <span></span></footer>`,
};

/** A chip for each value, or a field. */
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
      ? `<input ${attributes}${kind === 'int64' ? ' inputmode="numeric"' : ''}>`
      : `<select ${attributes}><option value="">none</option>${options}</select>`;
  return `<p class="field"><label for="${id}">${label}</label>
${input}
<span class="error" id="${id}-error"></span></p>`;
}

export function addConsoleRoutes(app: FastifyInstance): void {
  let files: ReadonlyMap<string, string> | undefined;
  // Relative, so that it also works behind a proxy that serves this under a path of its own.
  app.get('/console', (_request, reply) => reply.redirect('console/', 301));
  app.get<{ Params: { '*': string } }>('/console/*', (request, reply) => {
    const path = request.params['*'];
    files ??= readFiles();
    const text = files.get(path);
    if (text === undefined) throw NOTHING_HERE;
    const type = MEDIA_TYPES[extname(path)] ?? 'text/javascript';
    reply.header('content-security-policy', POLICY);
    if (path !== '') reply.header('cache-control', 'public, max-age=31536000, immutable');
    return reply.type(`${type}; charset=utf-8`).send(text);
  });
}

/** What the page names, from the folder of the sources. */
const FILE = /"files\/([^"]+)"/g;
/** What a module imports, of types too: each is a name that begins with a dot. */
const IMPORT = /\b(?:from|import) '(\.[^']+)'/g;

/** By path; the page has the empty path. It names every module, so that a browser asks for all of them at once. */
function readFiles(): ReadonlyMap<string, string> {
  const modules = readModules(`console/main${EXTENSION}`);
  const [main, ...others] = modules.keys();
  const links = others.map((name) => `<link rel="modulepreload" href="files/${name}">`);
  const parts = { ...PARTS, main: `files/${main}`, modules: links.join('\n') };
  const page = readTemplate('console/index.html', parts);
  const names = [...page.matchAll(FILE)].map(([, name = '']) => name);
  const texts = new Map(names.map((name) => [name, modules.get(name) ?? read(name)]));
  const folder = hash('sha256', [...texts.values()].join()).slice(0, 16);
  // The names of the files of the client begin with `../client/`, beside the sources.
  const toPath = (name: string) => posix.join(folder, 'src', name);
  const found = [...texts].map(([name, text]) => [toPath(name), text] as const);
  return new Map([['', page.replace(FILE, (_all, name) => `"${toPath(name)}"`)], ...found]);
}

/** The module, and all modules that it imports, by their names. */
function readModules(main: string): ReadonlyMap<string, string> {
  const modules = new Map<string, string>();
  const names = new Set([main]);
  // A set also gives the names that are added meanwhile.
  for (const name of names) {
    const text = extname(name) === '.ts' ? stripTypeScriptTypes(read(name)) : read(name);
    modules.set(name, text);
    for (const [, path = ''] of text.matchAll(IMPORT)) names.add(posix.join(name, '..', path));
  }
  return modules;
}
