/** The script of the docs page: compressed at its first request, and under a name that changes with it. */

import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import fastify, { type FastifyInstance } from 'fastify';
import { CONSTANT_HEADERS } from '../headers.ts';
import { NOTHING_HERE } from '../protocol/methods.ts';

const { dependencies } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
);

/** Has the version of the plug-in: its name is known before the script is loaded. */
export const SCRIPT_NAME = `scalar-${dependencies['@scalar/fastify-api-reference']}.js`;

async function loadScript() {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const app = fastify();
  await app.register(scalar, { configuration: { url: 'openapi.json' } });
  const { rawPayload: plain } = await app.inject('/reference/js/scalar.js');
  return { plain, compressed: await promisify(gzip)(plain) };
}

export function addDocsScript(app: FastifyInstance): void {
  let loading: ReturnType<typeof loadScript> | undefined;

  app.get<{ Params: { name: string } }>('/docs/js/:name', async (request, reply) => {
    if (request.params.name !== SCRIPT_NAME) throw NOTHING_HERE;
    loading ??= loadScript();
    const { plain, compressed } = await loading;
    reply.type('text/javascript; charset=utf-8').headers({
      ...CONSTANT_HEADERS,
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Origin, Accept-Encoding',
    });
    if (!takesGzip(request.headers['accept-encoding'] ?? '')) return reply.send(plain);
    return reply.header('content-encoding', 'gzip').send(compressed);
  });
}

/** Whether an Accept-Encoding names gzip with a weight above 0 (RFC 9110 section 12.5.3). */
function takesGzip(accepted: string): boolean {
  const gzips = accepted.split(',').filter((part) => /^\s*gzip\s*(?:;|$)/i.test(part));
  return gzips.some((part) => !/;\s*q=0(?:\.0*)?\s*$/i.test(part));
}
