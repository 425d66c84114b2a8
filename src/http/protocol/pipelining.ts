/** The responses of a connection that are not sent yet: how many there may be, and which one is the last. */

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HookHandlerDoneFunction as Done, FastifyReply, FastifyRequest } from 'fastify';
import { PIPELINED_MAX } from '../limits.ts';

interface Pipeline {
  last: ServerResponse;
  /** Responses that were begun while the one before them was not sent. */
  waiting: number;
}

const PIPELINE = Symbol('pipeline');

declare module 'node:net' {
  interface Socket {
    [PIPELINE]?: Pipeline;
  }
}

/**
 * The hook that closes a connection on which PIPELINED_MAX responses wait. Node parses every request
 * that it has read, so a client that sends without reading could fill the memory with responses.
 */
export function limitPipelining(request: FastifyRequest, reply: FastifyReply, done: Done): void {
  const { socket } = request.raw;
  const response = reply.raw;
  socket[PIPELINE] ??= { last: response, waiting: 0 };
  const pipeline = socket[PIPELINE];
  const { last } = pipeline;
  pipeline.last = response;
  if (last !== response && !last.writableFinished) {
    pipeline.waiting += 1;
    response.once('finish', () => {
      pipeline.waiting -= 1;
    });
  }
  if (pipeline.waiting >= PIPELINED_MAX) socket.destroy();
  else done();
}

/** The response to the last request that Fastify saw on this connection. */
export function findLastResponse(socket: Socket): ServerResponse | undefined {
  return socket[PIPELINE]?.last;
}
