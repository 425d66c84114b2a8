/** What a reader gets without a key: the start page, the docs page and the OpenAPI document. */

import fastify, { type FastifyInstance } from 'fastify';
import { CONSTANT_HEADERS } from '../headers.ts';
import { DOCS_PAGE, START_PAGE } from './docs-pages.ts';

/**
 * Adds the pages.
 *
 * @param base the outside address of the service up to `/v1`, or empty.
 */
export function addDocsRoutes(app: FastifyInstance, base: string): void {
  const hidden = { schema: { hide: true } };
  const policy = describePolicy(base);
  const addPage = (url: string, html: string) =>
    app.get(url, hidden, (_request, reply) =>
      reply
        .headers({ ...CONSTANT_HEADERS, 'content-security-policy': policy })
        .type('text/html; charset=utf-8')
        .send(html),
    );
  addPage('/', START_PAGE);
  addPage('/docs/', DOCS_PAGE);
  // Relative, so that it also works behind a proxy that serves this under a path of its own.
  app.get('/docs', hidden, (_request, reply) => reply.redirect('docs/', 301));

  let script: Promise<Buffer> | undefined;
  app.get('/docs/js/scalar.js', hidden, async (_request, reply) => {
    script ??= loadScript().catch((error) => {
      script = undefined;
      throw error;
    });
    return reply.type('text/javascript; charset=utf-8').send(await script);
  });
  let document: string | undefined;
  app.get('/openapi.json', hidden, (_request, reply) => {
    document ??= JSON.stringify(app.swagger());
    return reply.type('application/json').send(document);
  });
}

/** The page may run its own script and styles, and send requests to this service alone. */
function describePolicy(base: string): string {
  const service = base === '' ? "'self'" : `'self' ${new URL(base).origin}`;
  return `default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; connect-src ${service}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;
}

/** Loaded at the first request for it: the plug-in's module takes 40 MiB and a quarter of a second. */
async function loadScript(): Promise<Buffer> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const app = fastify();
  await app.register(scalar, { routePrefix: '/docs', configuration: { url: '../openapi.json' } });
  const { rawPayload } = await app.inject('/docs/js/scalar.js');
  return rawPayload;
}
