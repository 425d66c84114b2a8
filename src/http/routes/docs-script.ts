/** The script of the docs page: compressed at its first request, and under a name that changes with it. */

import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import fastify, { type FastifyInstance } from 'fastify';
import { CONSTANT_HEADERS } from '../headers.ts';
import { NOTHING_HERE } from '../protocol/methods.ts';

const { dependencies } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
);

/** Has the version of the plug-in: its name is known before the script is loaded. */
export const SCRIPT_NAME = `scalar-${dependencies['@scalar/fastify-api-reference']}.js`;

/** Quality 11, the highest, takes 14 s of CPU in place of 0.25 s, and saves 12 % of the bytes. */
const COMPRESSION = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } };

/** By content coding, the smallest one first. */
type DocsScript = Readonly<Record<'br' | 'gzip' | 'identity', Uint8Array>>;

async function loadScript(): Promise<DocsScript> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const app = fastify();
  await app.register(scalar, { configuration: { url: 'openapi.json' } });
  const { rawPayload: identity } = await app.inject('/reference/js/scalar.js');
  const [br, gzipped] = await Promise.all([
    promisify(brotliCompress)(identity, COMPRESSION),
    promisify(gzip)(identity),
  ]);
  return { br, gzip: gzipped, identity };
}

export function addDocsScript(app: FastifyInstance): void {
  let loading: Promise<DocsScript> | undefined;

  app.get<{ Params: { name: string } }>('/docs/js/:name', async (request, reply) => {
    if (request.params.name !== SCRIPT_NAME) throw NOTHING_HERE;
    loading ??= loadScript();
    const bodies = await loading;
    const coding = chooseCoding(request.headers['accept-encoding'] ?? '');
    reply.headers({
      ...CONSTANT_HEADERS,
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Origin, Accept-Encoding',
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
