/** The script of the docs page: compressed once, under a name that changes with it, and sent to a few clients at a time. */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { HookHandlerDoneFunction as Done, FastifyInstance, FastifyRequest } from 'fastify';
import { createError } from '../errors.ts';
import { CONSTANT_HEADERS } from '../headers.ts';
import { DOCS_SCRIPT_READERS_MAX, DOCS_SCRIPT_SECONDS_MIN } from '../limits.ts';
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
  /** The connections that the script was sent on and that are still open, the oldest first, and since when. */
  const readers = new Map<Socket, number>();

  function admit(socket: Socket): void {
    const [oldest] = readers;
    if (oldest !== undefined && readers.size >= DOCS_SCRIPT_READERS_MAX) {
      const ms = performance.now() - oldest[1];
      if (ms < DOCS_SCRIPT_SECONDS_MIN * 1_000) throw createError('unavailable');
      // Its end is told in a later turn, until when others of this turn would be let in for the same one.
      readers.delete(oldest[0]);
      oldest[0].destroy();
    }
    readers.set(socket, performance.now());
    socket.once('close', () => readers.delete(socket));
    resetAtEnd(socket);
  }

  /** Of a route, so it comes after those of all answers. */
  function onSend({ raw }: FastifyRequest, _reply: unknown, _payload: unknown, done: Done): void {
    // Node calls it when the last answer of the connection is sent.
    if (raw.complete && readers.has(raw.socket)) raw.socket.destroySoon = () => raw.socket.end();
    done();
  }

  app.get<{ Params: { name: string } }>('/docs/js/:name', { onSend }, async (request, reply) => {
    if (request.params.name !== SCRIPT_NAME) throw NOTHING_HERE;
    const bodies = await getDocsScript();
    if (request.method === 'GET') admit(request.socket);
    const coding = chooseCoding(request.headers['accept-encoding'] ?? '');
    const vary = reply.getHeader('vary');
    reply.headers({
      ...CONSTANT_HEADERS,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`,
      connection: 'close',
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

/**
 * Makes the connection be reset when it is not ended by its client: the kernel goes on keeping what
 * was written to a socket that is just closed and not read.
 */
function resetAtEnd(socket: Socket): void {
  const { destroy } = socket;
  socket.destroy = () => {
    socket.destroy = destroy;
    // Node's own waits until all is written.
    socket.destroySoon = destroy;
    return socket.resetAndDestroy();
  };
}
