/** The OpenAPI document, of the interface version 1.0.0. */

import type { Environment } from '../api-key.ts';
import { ERRORS } from '../error.ts';
import { NEW_PET_FIELDS, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from '../pet.ts';
import { COMPONENTS } from './components.ts';
import { LIMITS } from './limits.ts';
import { describePaths, describeSharedResponses } from './operations/document.ts';

export interface OpenApiOptions {
  readonly environment: Environment;
  /** The address of the service, ending in `/v1`. */
  readonly baseUrl: string;
}

/** Small clients to copy: the files of `docs/recipes`, and what each is written in. */
export const RECIPES: ReadonlyMap<string, string> = new Map([
  ['curl.sh', 'curl'],
  ['package.ts', 'TypeScript'],
  ['fetch.ts', 'TypeScript without a package'],
  ['python.py', 'Python'],
]);

const TITLES: Readonly<Record<Environment, string>> = {
  staging: 'Staging',
  production: 'Production',
};

const TEXTS = NEW_PET_FIELDS.filter(({ schema }) => schema.maxLength !== undefined);
const INTEGERS = [
  'id',
  ...NEW_PET_FIELDS.filter(({ kind }) => kind === 'int64').map(({ name }) => name),
];

const DESCRIPTION = `Keeps the pets of a store: list them, add one, get one.

## Get a key

Every operation needs an API key. The operator of the service makes one with
\`petstore keys create --name NAME\`; it is shown once. Send it with every request:

    Authorization: Bearer <API_KEY>

A key of staging does not open production, and a key of production does not open staging.

## Write a client

Small ones to copy, which read every page, send a request again without adding a pet twice, and keep every
int64 exact:

${[...RECIPES].map(([name, title]) => `- [${title}](recipes/${name}): \`/docs/recipes/${name}\` of this service`).join('\n')}

## Read every page

\`GET /pets\` answers with up to \`limit\` pets, by \`id\`, ascending. While there are more, the answer
carries the address of the next page:

    Link: </v1/pets?limit=20&cursor=…>; rel="next"

Follow it until an answer has none: you read every pet once, whatever is added meanwhile.
The \`cursor\` is opaque: take it as it comes.

## Handle errors

Every error is JSON with a \`code\` for the program, a \`message\` for the person who can fix it, and
the \`status\` of the answer. More codes may be added. To report an error, give its \`X-Request-Id\`.

- After a 429, send the request again when \`Retry-After\` says: it was not carried out.
- After a 503, or without an answer, send a GET again. A POST may have added its pet: send it again only
  with the \`Idempotency-Key\` that it had, else the pet may be added twice.

| status | code |
| --- | --- |
${Object.entries(ERRORS)
  .map(([code, { status }]) => `| ${status} | \`${code}\` |`)
  .join('\n')}

## Stay within the limits

| what | limit |
| --- | --- |
| pets on a page | 1 to ${PAGE_LIMIT_MAX}, ${PAGE_LIMIT_DEFAULT} when \`limit\` is not given |
${TEXTS.map(({ name, schema }) => `| \`${name}\` | ${schema.minLength} to ${schema.maxLength} Unicode code points |`).join('\n')}
| ${INTEGERS.map((name) => `\`${name}\``).join(', ')} | int64: many JSON parsers round integers beyond ±2^53, so read them as 64-bit integers |
| body | ${LIMITS.BODY_BYTES_MAX / 1024} KiB |
| request line and headers | ${LIMITS.HEADER_BYTES_MAX / 1024} KiB |
| requests a second with a key | as \`RateLimit-Policy\` says; not limited without that header |
| time for a request to arrive | ${LIMITS.REQUEST_SECONDS_MAX} s, its headers ${LIMITS.HEADER_SECONDS_MAX} s |

## Deprecated

\`GET /pets/{petId}\` is to be removed on 5 December 2030, as its answers say in \`Deprecation\` and
\`Sunset\`. Use \`GET /pets\` with the \`status\` filter instead. Parts marked \`x-stability: beta\` may
still change.
`;

export function writeOpenApi({ environment, baseUrl }: OpenApiOptions, indent?: number): string {
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Petstore',
      version: '1.0.0',
      description: DESCRIPTION,
      contact: { name: 'The operator of this service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    components: {
      securitySchemes: {
        bearerAuth: {
          type: 'http',
          scheme: 'bearer',
          description: 'The API key: `petstore keys create` makes one.',
        },
      },
      schemas: COMPONENTS,
      responses: describeSharedResponses(),
    },
    paths: describePaths(),
    servers: [{ url: baseUrl, description: TITLES[environment] }],
    security: [{ bearerAuth: [] }],
    tags: [{ name: 'animals', description: 'The pets of the store.' }],
  };
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  // A bound of an int64 is a bigint, since a double would round it.
  const toExact = (_name: string, value: unknown) =>
    typeof value === 'bigint' ? rawJSON(String(value)) : value;
  return JSON.stringify(document, toExact, indent);
}
