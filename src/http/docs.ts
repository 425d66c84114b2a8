/** What a reader gets without a key: the OpenAPI document, the page that shows it, and the way there. */

import swagger from '@fastify/swagger';
import scalar from '@scalar/fastify-api-reference';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Environment } from '../api-key.ts';
import { CONSTANT_HEADERS } from './headers.ts';

export interface DocsOptions {
  readonly environment: Environment;
  /** The outside address of the service up to `/v1`, or empty. */
  readonly base: string;
}

/** The page's own script, its inline styles and the requests that it tries out; nothing from elsewhere. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src *; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const START_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Petstore</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}</style>
<h1>Petstore</h1>
<p>This service keeps the animals of a store. Its API is at <code>v1/pets</code> and asks for a key.</p>
<p><a href="docs">Read the documentation and try it</a>, or take the <a href="openapi.json">OpenAPI document</a>.</p>
</html>
`;

/** Collects the routes that are registered from now on. */
export async function addDocument(app: FastifyInstance, options: DocsOptions): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Petstore',
        version: '1.0.0',
        description: 'Keeps the animals of a store: list them, add one, get one.',
        contact: { name: 'Who runs this service' },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: describeServers(options),
      tags: [{ name: 'animals', description: 'The animals of the store.' }],
      security: [{ bearerAuth: [] }],
      components: {
        securitySchemes: {
          bearerAuth: {
            type: 'http',
            scheme: 'bearer',
            description: 'The API key, which the command line issues: `petstore keys create`.',
          },
        },
      },
    },
    stripBasePath: false,
    transform: ({ schema, url }) => ({ schema, url: url.replace(/^\/v1/, '') }),
    refResolver: { buildLocalReference: (json) => String(json.$id) },
  });
}

/** Adds the pages; to be called after the routes that the document describes. */
export async function addDocs(app: FastifyInstance): Promise<void> {
  await app.register(scalar, {
    routePrefix: '/docs',
    hooks: { onRequest: allowPage },
    configuration: {
      url: '../openapi.json',
      pageTitle: 'Petstore',
      // No part of the page may come from or go to anywhere but this service.
      withDefaultFonts: false,
      telemetry: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      hideClientButton: true,
    },
  });
  app.get('/', { schema: { hide: true }, onRequest: allowPage }, (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(START_PAGE),
  );
  app.get('/openapi.json', { schema: { hide: true } }, (_request, reply) =>
    reply.type('application/json').send(JSON.stringify(app.swagger())),
  );
}

async function allowPage(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.headers({ ...CONSTANT_HEADERS, 'Content-Security-Policy': PAGE_POLICY });
}

/** Both environments of the interface, the one that this service is first and at its real address. */
function describeServers({ environment, base }: DocsOptions) {
  const servers = [
    { is: 'production', variable: 'base_url', description: 'Production' },
    { is: 'staging', variable: 'staging_base_url', description: 'Staging' },
  ].map(({ is, variable, description }) => ({
    url: `{${variable}}`,
    description,
    variables: {
      [variable]: {
        default: is === environment ? `${base}/v1` : '/v1',
        description: 'Ends with the path segment v1.',
      },
    },
  }));
  return environment === 'staging' ? servers.reverse() : servers;
}
