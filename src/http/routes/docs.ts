/** What a reader gets without a key: the start page, the docs page with its recipes, and the OpenAPI document. */

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { CONSTANT_HEADERS } from '../headers.ts';
import { type OpenApiOptions, RECIPES, writeOpenApi } from '../openapi.ts';
import { addDocsScript, SCRIPT_NAME } from './docs-script.ts';
import { readPage } from './page.ts';

export function addDocsRoutes(app: FastifyInstance, options: OpenApiOptions): void {
  const links = [...RECIPES].map(([name, title]) => `<a href="recipes/${name}">${title}</a>`);
  const docsPage = readPage('http/routes/docs.html', { recipes: links.join(', ') }).replace(
    'js/scalar.js',
    `js/${SCRIPT_NAME}`,
  );
  const policy = describePolicy(docsPage);
  const addPage = (url: string, html: string) =>
    app.get(url, (_request, reply) =>
      reply
        .headers({ ...CONSTANT_HEADERS, 'Content-Security-Policy': policy })
        .type('text/html; charset=utf-8')
        .send(html),
    );
  addPage('/', readPage('http/routes/start.html'));
  addPage('/docs/', docsPage);
  // Relative, so that it also works behind a proxy that serves this under a path of its own.
  app.get('/docs', (_request, reply) => reply.redirect('docs/', 301));

  for (const name of RECIPES.keys()) {
    const text = readFileSync(new URL(`../../../docs/recipes/${name}`, import.meta.url), 'utf8');
    app.get(`/docs/recipes/${name}`, (_request, reply) =>
      reply.type('text/plain; charset=utf-8').send(text),
    );
  }

  addDocsScript(app);
  let document: string | undefined;
  app.get('/openapi.json', (request, reply) => {
    document ??= writeOpenApi(options);
    // Only one text is kept: a client can send any Host.
    const served = document.replace('"url":"/v1"', () => `"url":"${findOrigin(request)}/v1"`);
    return reply.type('application/json').send(served);
  });
}

const PLAIN_HOST = /^[\w.:[\]-]+$/;

/** The origin that the request was sent to; empty when its Host is no plain address. */
function findOrigin({ protocol, headers }: FastifyRequest): string {
  const { host = '' } = headers;
  if (!PLAIN_HOST.test(host)) return '';
  // A proxy may pass on any X-Forwarded-Proto.
  const scheme = protocol === 'https' ? 'https' : 'http';
  return URL.parse(`${scheme}://${host}`)?.origin ?? '';
}

/** A page may run only its own script and styles, and send requests only to this service. */
function describePolicy(page: string): string {
  const [, script = ''] = /<script type="module">(.*?)<\/script>/s.exec(page) ?? [];
  const source = `'sha256-${hash('sha256', script, 'base64')}'`;
  return `default-src 'none'; script-src 'self' ${source}; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;
}
