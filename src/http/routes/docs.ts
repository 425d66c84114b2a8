/** What a reader gets without a key: the start page, the docs page with its recipes, and the OpenAPI document. */

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type OpenApiOptions, RECIPES, writeOpenApi } from '../openapi.ts';
import { createPageHeaders, KEPT_SCRIPT, read, readTemplate, redirectToFolder } from './page.ts';

const SCRIPT = readFileSync(new URL('scalar.js.gz', import.meta.url));

/** A new script gets a new name: a browser keeps the old one for a year. */
export const SCRIPT_NAME = `scalar-${hash('sha256', SCRIPT).slice(0, 16)}.js`;

export function addDocsRoutes(app: FastifyInstance, options: OpenApiOptions): void {
  const links = [...RECIPES].map(([name, title]) => `<a href="recipes/${name}">${title}</a>`);
  const parts = { recipes: links.join(', '), script: SCRIPT_NAME };
  const docsPage = readTemplate('http/routes/docs.html', parts);
  const startPage = readTemplate('http/routes/start.html');
  const scripts = docsPage.matchAll(/<script(?: type="module")?>(.*?)<\/script>/gs);
  const hashes = [...scripts].map(([, own = '']) => `'sha256-${hash('sha256', own, 'base64')}'`);
  const page = createPageHeaders(`'self' ${hashes.join(' ')}`, "'unsafe-inline'");
  let document: string | undefined;

  type Write = (request: FastifyRequest) => string | Buffer;
  const add = (url: string, headers: Readonly<Record<string, string>>, write: Write) =>
    app.get(url, (request, reply) => reply.headers(headers).send(write(request)));
  // The service may not know its own address.
  const findBaseUrl = (request: FastifyRequest) =>
    options.baseUrl === '/v1' ? `${findOrigin(request)}/v1` : options.baseUrl;
  add('/', page, (request) => startPage.replace('<!-- baseUrl -->', () => findBaseUrl(request)));
  add('/docs/', page, () => docsPage);
  redirectToFolder(app, 'docs');
  for (const name of RECIPES.keys()) {
    const text = read(`../docs/recipes/${name}`);
    add(`/docs/recipes/${name}`, { 'content-type': 'text/plain; charset=utf-8' }, () => text);
  }
  // Every browser takes gzip, whatever the request says.
  add(`/docs/js/${SCRIPT_NAME}`, { ...KEPT_SCRIPT, 'content-encoding': 'gzip' }, () => SCRIPT);
  add('/openapi.json', { 'content-type': 'application/json' }, (request) => {
    document ??= writeOpenApi(options);
    // Only one text is kept: a client can send any Host.
    return document.replace('"url":"/v1"', () => `"url":"${findBaseUrl(request)}"`);
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
