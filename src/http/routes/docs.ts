/** What a reader gets without a key: the start page, the docs page with its recipes, and the OpenAPI document. */

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type OpenApiOptions, RECIPES, writeOpenApi } from '../openapi.ts';
import { createPolicy, read, readTemplate } from './page.ts';

/** Scalar's script, compressed. */
const SCRIPT = readFileSync(new URL('scalar.js.gz', import.meta.url));

/** A new script gets a new name: a browser keeps the old one for a year. */
export const SCRIPT_NAME = `scalar-${hash('sha256', SCRIPT).slice(0, 16)}.js`;

export function addDocsRoutes(app: FastifyInstance, options: OpenApiOptions): void {
  const links = [...RECIPES].map(([name, title]) => `<a href="recipes/${name}">${title}</a>`);
  const parts = { recipes: links.join(', '), script: SCRIPT_NAME };
  const docsPage = readTemplate('http/routes/docs.html', parts);
  const [, script = ''] = /<script type="module">(.*?)<\/script>/s.exec(docsPage) ?? [];
  const ownScript = `'sha256-${hash('sha256', script, 'base64')}'`;
  const policy = createPolicy(`'self' ${ownScript}`, "'unsafe-inline'");
  // The service may not know its own address.
  const findBaseUrl = (request: FastifyRequest) =>
    options.baseUrl === '/v1' ? `${findOrigin(request)}/v1` : options.baseUrl;
  const addPage = (url: string, html: string) =>
    app.get(url, (request, reply) =>
      reply
        .header('content-security-policy', policy)
        .type('text/html; charset=utf-8')
        .send(html.replace('<!-- baseUrl -->', () => findBaseUrl(request))),
    );
  addPage('/', readTemplate('http/routes/start.html'));
  addPage('/docs/', docsPage);
  // Relative, so that it also works behind a proxy that serves this under a path of its own.
  app.get('/docs', (_request, reply) => reply.redirect('docs/', 301));

  for (const name of RECIPES.keys()) {
    const text = read(`../docs/recipes/${name}`);
    app.get(`/docs/recipes/${name}`, (_request, reply) =>
      reply.type('text/plain; charset=utf-8').send(text),
    );
  }

  addScript(app);
  let document: string | undefined;
  app.get('/openapi.json', (request, reply) => {
    document ??= writeOpenApi(options);
    // Only one text is kept: a client can send any Host.
    const served = document.replace('"url":"/v1"', () => `"url":"${findBaseUrl(request)}"`);
    return reply.type('application/json').send(served);
  });
}

/** Every browser takes gzip, whatever the request says. */
function addScript(app: FastifyInstance): void {
  app.get(`/docs/js/${SCRIPT_NAME}`, (_request, reply) =>
    reply
      .type('text/javascript; charset=utf-8')
      .header('cache-control', 'public, max-age=31536000, immutable')
      .header('content-encoding', 'gzip')
      .send(SCRIPT),
  );
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
