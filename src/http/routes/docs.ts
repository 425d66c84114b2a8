/** What a reader gets without a key: the OpenAPI document, the page that shows it, and the way there. */

import swagger from '@fastify/swagger';
import fastify, { type FastifyInstance } from 'fastify';
import type { Environment } from '../../api-key.ts';
import { NAME_CODE_POINTS_MAX, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from '../../pet.ts';
import { STATUSES } from '../errors.ts';
import { CONSTANT_HEADERS } from '../headers.ts';
import {
  BODY_BYTES_MAX,
  HEADER_BYTES_MAX,
  HEADER_SECONDS_MAX,
  REQUEST_SECONDS_MAX,
} from '../limits.ts';
import { DOCS_PAGE, START_PAGE } from './docs-pages.ts';

export interface DocsOptions {
  readonly environment: Environment;
  /** The outside address of the service up to `/v1`, or empty. */
  readonly base: string;
}

const DESCRIPTION = `Keeps the animals of a store: list them, add one, get one.

## Get a key

Every operation needs an API key. The operator of the service makes one with
\`petstore keys create --name NAME\`; it is shown once. Send it with every request:

    Authorization: Bearer <API_KEY>

A key of staging does not open production, and a key of production does not open staging.

## Read every page

\`GET /pets\` answers with up to \`limit\` animals, by \`id\`, ascending. While there are more, the answer
carries the address of the next page:

    Link: </v1/pets?limit=20&cursor=…>; rel="next"

Follow it until an answer has none: you meet every animal once, whatever is added meanwhile.
The \`cursor\` is opaque: take it as it comes.

## Handle errors

Every error is JSON with a \`code\` for the program, a \`message\` for the person who can mend it, and
the \`status\` of the answer. After a 503 try again when \`Retry-After\` says; to report an error, give
its \`X-Request-Id\`. More codes may come.

| status | code |
| --- | --- |
${Object.entries(STATUSES)
  .map(([code, status]) => `| ${status} | \`${code}\` |`)
  .join('\n')}

## Stay within the limits

| what | limit |
| --- | --- |
| animals on a page | 1 to ${PAGE_LIMIT_MAX}, ${PAGE_LIMIT_DEFAULT} when \`limit\` is not given |
| \`name\` | 1 to ${NAME_CODE_POINTS_MAX} Unicode code points |
| \`id\`, \`categoryId\` | int64: many JSON parsers round what is beyond ±2^53, so read them as 64-bit integers |
| body | ${BODY_BYTES_MAX / 1024} KiB |
| request line and headers | ${HEADER_BYTES_MAX / 1024} KiB |
| time for a request to arrive | ${REQUEST_SECONDS_MAX} s, its headers ${HEADER_SECONDS_MAX} s |

## Deprecated

\`GET /pets/{petId}\` is to be removed on 5 December 2030, as its answers say in \`Deprecation\` and
\`Sunset\`. Use \`GET /pets\` with the \`status\` filter instead. What is marked \`x-stability: beta\` may
still change.
`;

/** Collects the routes that are registered from now on. */
export async function addDocument(app: FastifyInstance, options: DocsOptions): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Petstore',
        version: '1.0.0',
        description: DESCRIPTION,
        contact: { name: 'The operator of this service' },
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
            description: 'The API key: `petstore keys create` makes one.',
          },
        },
      },
    },
    stripBasePath: false,
    transform: ({ schema, url }) => ({ schema, url: url.replace(/^\/v1/, '') }),
    transformObject: (made) => {
      const document = 'openapiObject' in made ? made.openapiObject : made.swaggerObject;
      liftStability(document);
      return document;
    },
    refResolver: { buildLocalReference: (json) => String(json.$id) },
  });
}

/** `x-stability` is said of a parameter or header; @fastify/swagger leaves it in its schema. */
function liftStability(part: unknown): void {
  if (typeof part !== 'object' || part === null) return;
  const { schema } = part as { schema?: Record<string, unknown> };
  if (schema !== undefined && 'x-stability' in schema) {
    Object.assign(part, { 'x-stability': schema['x-stability'] });
    delete schema['x-stability'];
  }
  for (const member of Object.values(part)) liftStability(member);
}

/** Adds the pages; to be called after the routes that the document describes. */
export async function addDocs(app: FastifyInstance, { base }: DocsOptions): Promise<void> {
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
  // Relative, so that it holds behind a proxy that serves this under a path of its own.
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

/** The page's own script and styles; requests to this service and nothing else. */
function describePolicy(base: string): string {
  const service = base === '' ? "'self'" : `'self' ${new URL(base).origin}`;
  return `default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; connect-src ${service}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;
}

/** The plugin's module takes 40 MiB and a quarter of a second, so it waits for the first reader. */
async function loadScript(): Promise<Buffer> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const app = fastify();
  await app.register(scalar, { routePrefix: '/docs', configuration: { url: '../openapi.json' } });
  const { rawPayload } = await app.inject('/docs/js/scalar.js');
  return rawPayload;
}

/** Stands for the address of an environment that this service is not; nothing is at `.test` (RFC 6761). */
export const PLACEHOLDERS: Readonly<Record<Environment, string>> = {
  production: 'https://petstore.test/v1',
  staging: 'https://staging.petstore.test/v1',
};

/** Both environments of the interface, the one that this service is first and at its real address. */
function describeServers({ environment, base }: DocsOptions) {
  const servers = [
    { is: 'production', variable: 'base_url', description: 'Production' } as const,
    { is: 'staging', variable: 'staging_base_url', description: 'Staging' } as const,
  ].map(({ is, variable, description }) => ({
    url: `{${variable}}`,
    description:
      is === environment ? description : `${description}, at an address that its operator tells`,
    variables: {
      [variable]: {
        default: is === environment ? `${base}/v1` : PLACEHOLDERS[is],
        description: 'Ends with the path segment v1.',
      },
    },
  }));
  return environment === 'staging' ? servers.reverse() : servers;
}
