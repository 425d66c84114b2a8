/** What a reader gets without a key: the start page, the docs page and the OpenAPI document. */

import type { FastifyInstance } from 'fastify';
import { CONSTANT_HEADERS } from '../headers.ts';
import { type OpenApiOptions, writeOpenApi } from '../openapi.ts';
import { createDocsPage, START_PAGE } from './docs-pages.ts';
import { addDocsScript, getDocsScript } from './docs-script.ts';

export function addDocsRoutes(app: FastifyInstance, options: Required<OpenApiOptions>): void {
  const policy = describePolicy(options.baseUrl);
  const addPage = (url: string, getHtml: () => string | Promise<string>) =>
    app.get(url, async (_request, reply) =>
      reply
        .headers({ ...CONSTANT_HEADERS, 'content-security-policy': policy })
        .type('text/html; charset=utf-8')
        .send(await getHtml()),
    );
  addPage('/', () => START_PAGE);
  addPage('/docs/', async () => createDocsPage((await getDocsScript()).name));
  // Relative, so that it also works behind a proxy that serves this under a path of its own.
  app.get('/docs', (_request, reply) => reply.redirect('docs/', 301));

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
  return `default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; connect-src ${service}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;
}
