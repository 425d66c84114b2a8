/** The script of the docs page: compressed once, and under a name that changes with it. */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { FastifyInstance } from 'fastify';
import { CONSTANT_HEADERS } from '../headers.ts';
import { NOTHING_HERE } from '../protocol/methods.ts';

/** TypeScript in the checkout, JavaScript in the package. */
const THREAD = new URL(`./docs-script-thread${extname(import.meta.url)}`, import.meta.url);

const { dependencies } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
);

/** Has the exact version of the plug-in, which is known before the script is loaded. */
export const SCRIPT_NAME = `scalar-${dependencies['@scalar/fastify-api-reference']}.js`;

/** By content coding. */
type DocsScript = Readonly<Record<'br' | 'gzip' | 'identity', Uint8Array>>;

let loading: Promise<DocsScript> | undefined;

/** Loaded at the first call, which takes about a second. */
function getDocsScript(): Promise<DocsScript> {
  loading ??= once(new Worker(THREAD), 'message').then(
    ([script]) => script,
    (error) => {
      loading = undefined;
      throw error;
    },
  );
  return loading;
}

/** Adds the script below `/docs/js/`. */
export function addDocsScript(app: FastifyInstance): void {
  app.get<{ Params: { name: string } }>('/docs/js/:name', async (request, reply) => {
    if (request.params.name !== SCRIPT_NAME) throw NOTHING_HERE;
    const bodies = await getDocsScript();
    const coding = chooseCoding(request.headers['accept-encoding'] ?? '');
    const vary = reply.getHeader('vary');
    reply.headers({
      ...CONSTANT_HEADERS,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`,
    });
    if (coding !== 'identity') reply.header('content-encoding', coding);
    return reply.type('text/javascript; charset=utf-8').send(bodies[coding]);
  });
}

/** The smallest of the codings that an Accept-Encoding names with a weight above 0 (RFC 9110 section 12.5.3). */
function chooseCoding(accepted: string): keyof DocsScript {
  const names = accepted
    .split(',')
    .filter((part) => !/;\s*q=0(?:\.0*)?\s*$/i.test(part))
    .map((part) => part.replace(/;.*/, '').trim().toLowerCase());
  return (['br', 'gzip'] as const).find((coding) => names.includes(coding)) ?? 'identity';
}
