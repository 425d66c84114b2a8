/**
 * The script of the docs page: Scalar's, with its license. It is committed, because its package brings twenty others,
 * which only an installation of the tools should have.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import scalar from '@scalar/fastify-api-reference';
import fastify from 'fastify';
import { ROOT } from './run.ts';

/** Compressed, as it is sent. */
export const DOCS_SCRIPT = join(ROOT, 'src/http/routes/scalar.js.gz');

/** The script of the installed package, which gives it only to a Fastify. */
export async function readDocsScript(): Promise<string> {
  const app = fastify();
  await app.register(scalar, { configuration: { url: 'openapi.json' } });
  const { payload } = await app.inject('/reference/js/scalar.js');
  const main = createRequire(import.meta.url).resolve('@scalar/fastify-api-reference');
  const folder = dirname(dirname(main));
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  const { name, version } = JSON.parse(read('package.json'));
  return `/*!\n${name} ${version}\n\n${read('LICENSE')}*/\n${payload}`;
}
