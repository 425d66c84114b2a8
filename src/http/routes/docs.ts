/** What a reader gets without a key: the start page, the docs page with its recipes, and the OpenAPI document. */

import type { FastifyInstance } from 'fastify';
import { CONSTANT_HEADERS } from '../headers.ts';
import { type OpenApiOptions, writeOpenApi } from '../openapi.ts';
import { getRecipe, RECIPES } from '../recipes.ts';
import { DOCS_PAGE, SCRIPT_SOURCE } from './docs-page.ts';
import { START_PAGE } from './docs-pages.ts';
import { addDocsScript } from './docs-script.ts';

export function addDocsRoutes(app: FastifyInstance, options: Required<OpenApiOptions>): void {
  const policy = describePolicy(options.baseUrl);
  const addPage = (url: string, html: string) =>
    app.get(url, (_request, reply) =>
      reply
        .headers({ ...CONSTANT_HEADERS, 'content-security-policy': policy })
        .type('text/html; charset=utf-8')
        .send(html),
    );
  addPage('/', START_PAGE);
  addPage('/docs/', DOCS_PAGE);
  // Relative, so that it also works behind a proxy that serves this under a path of its own.
  app.get('/docs', (_request, reply) => reply.redirect('docs/', 301));

  for (const name of RECIPES.keys()) {
    let text: string | undefined;
    app.get(`/docs/recipes/${name}`, (_request, reply) => {
      text ??= getRecipe(name);
      return reply.type('text/plain; charset=utf-8').send(text);
    });
  }

  addDocsScript(app);
  let document: string | undefined;
  app.get('/openapi.json', (_request, reply) => {
    document ??= writeOpenApi(options);
    return reply.type('application/json').send(document);
  });
}

/** The page may run its own script and styles, and send requests to this service alone. */
function describePolicy(baseUrl: string): string {
  const service = baseUrl === '/v1' ? "'self'" : `'self' ${new URL(baseUrl).origin}`;
  return `default-src 'none'; script-src 'self' ${SCRIPT_SOURCE}; style-src 'unsafe-inline'; img-src data:; connect-src ${service}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;
}
