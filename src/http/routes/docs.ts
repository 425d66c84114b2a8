/** What a reader gets without a key: the start page, the docs page and the OpenAPI document. */

import type { FastifyInstance } from 'fastify';
import { CONSTANT_HEADERS } from '../headers.ts';
import { writeOpenApi } from '../openapi.ts';
import { createDocsPage, START_PAGE } from './docs-pages.ts';
import { addDocsScript, getDocsScript } from './docs-script.ts';

/**
 * Adds the pages.
 *
 * @param base the outside address of the service up to `/v1`, or empty.
 */
export function addDocsRoutes(app: FastifyInstance, base: string): void {
  const hidden = { schema: { hide: true } };
  const policy = describePolicy(base);
  const addPage = (url: string, getHtml: () => string | Promise<string>) =>
    app.get(url, hidden, async (_request, reply) =>
      reply
        .headers({ ...CONSTANT_HEADERS, 'content-security-policy': policy })
        .type('text/html; charset=utf-8')
        .send(await getHtml()),
    );
  addPage('/', () => START_PAGE);
  addPage('/docs/', async () => createDocsPage((await getDocsScript()).name));
  // Relative, so that it also works behind a proxy that serves this under a path of its own.
  app.get('/docs', hidden, (_request, reply) => reply.redirect('docs/', 301));

  addDocsScript(app);
  let document: string | undefined;
  app.get('/openapi.json', hidden, (_request, reply) => {
    document ??= writeOpenApi(app);
    return reply.type('application/json').send(document);
  });
}

/** The page may run its own script and styles, and send requests to this service alone. */
function describePolicy(base: string): string {
  const service = base === '' ? "'self'" : `'self' ${new URL(base).origin}`;
  return `default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; connect-src ${service}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;
}
