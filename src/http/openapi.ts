/** The OpenAPI document, of the interface version 1.0.0. */

import type { Environment } from '../api-key.ts';
import { BOUNDS, ERRORS } from '../error.ts';
import { writeJson } from '../json.ts';
import { NAME_CODE_POINTS_MAX, NEW_PET_FIELDS } from '../pet.ts';
import { LIST_ORDER, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from '../pet-query.ts';
import { COMPONENTS } from './components.ts';
import { describePaths, SHARED_RESPONSES, TAG } from './operations/document.ts';
import { SUNSET_DAY } from './operations/get-pet.ts';
import { readTemplate } from './routes/page.ts';

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

export function writeOpenApi({ environment, baseUrl }: OpenApiOptions, indent?: number): string {
  const document = {
    // Nothing here needs 3.1, from which older tools make a client without types, and no error.
    openapi: '3.0.3',
    info: {
      title: 'Petstore',
      version: '1.0.0',
      description: writeDescription(),
      contact: { name: 'The operator of this service' },
      license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
    },
    components: {
      securitySchemes: {
        bearerAuth: {
          type: 'http',
          scheme: 'bearer',
          description: 'The API key, which the operator of the service makes.',
        },
      },
      schemas: COMPONENTS,
      responses: SHARED_RESPONSES,
    },
    paths: describePaths(),
    servers: [
      { url: baseUrl, description: environment === 'production' ? 'Production' : 'Staging' },
    ],
    security: [{ bearerAuth: [] }],
    tags: [TAG],
  };
  return writeJson(document, indent);
}

function writeDescription(): string {
  const recipes = [...RECIPES].map(
    ([name, title]) => `- [${title}](recipes/${name}): \`/docs/recipes/${name}\` of this service`,
  );
  const errors = Object.entries(ERRORS).map(([code, { status }]) => `| ${status} | \`${code}\` |`);
  const integers = NEW_PET_FIELDS.filter(({ kind }) => kind === 'int64').map(({ name }) => name);
  return readTemplate('http/description.md', {
    ...BOUNDS,
    NAME_CODE_POINTS_MAX,
    LIST_ORDER,
    PAGE_LIMIT_MAX,
    PAGE_LIMIT_DEFAULT,
    SUNSET_DAY,
    recipes: recipes.join('\n'),
    errors: errors.join('\n'),
    integers: ['id', ...integers].map((name) => `\`${name}\``).join(', '),
  });
}
