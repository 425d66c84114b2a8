/** The last hook of every answer of the application: the log line of the request, and when it is sent. */

import type { HookHandlerDoneFunction as Done, FastifyReply, FastifyRequest } from 'fastify';
import { lingerAtEnd } from '../protocol/lingering-close.ts';
import { findTraceId, type RequestLog } from '../request-log.ts';
import type { LoadShedder } from './shed-load.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** When its headers were parsed, by `performance.now`. */
    startedAt: number;
    /** The address of the client. */
    client: string;
  }
}

/**
 * An `onSend` hook; listeners of `onResponse` would cost as much as all other hooks together.
 *
 * @param settle is called when an answer is sent.
 * @param isStopping whether the service is stopping: then each connection ends with its answer.
 */
export function createFinishResponse(
  requestLog: RequestLog,
  isStopping: () => boolean,
  settle: LoadShedder['settle'] = () => undefined,
) {
  return (request: FastifyRequest, reply: FastifyReply, _payload: unknown, done: Done): void => {
    reply.header('x-request-id', request.id);
    if (isStopping()) reply.header('connection', 'close');
    // The client may be sending its next requests. What it asked itself to end has no header yet.
    if (reply.hasHeader('connection') || !reply.raw.shouldKeepAlive) {
      lingerAtEnd(request.raw.socket);
    }
    const ms = performance.now() - request.startedAt;
    requestLog.write({
      client: request.client,
      method: request.method,
      route: request.routeOptions.url,
      status: reply.statusCode,
      ms,
      requestId: request.id,
      keyId: request.keyId,
      traceId: findTraceId(request.headers.traceparent),
      refusal: request.refusal ?? undefined,
    });
    const finish = (at: number) => {
      settle(request, at);
      try {
        done();
      } catch (error) {
        done(error as Error);
      }
    };
    // An error is sent at once: later in this turn the parser may refuse the rest of the request.
    if (reply.statusCode >= 400) finish(performance.now());
    else if (finishing.push(finish) === 1) setImmediate(finishAll);
  };
}

let finishing: ((at: number) => void)[] = [];

/**
 * At the end of a turn of the event loop its answers are sent one right after the other: the code that sends
 * them stays in the processor's caches, and the first write wakes a client that waits for several of them.
 */
function finishAll(): void {
  const all = finishing;
  finishing = [];
  const at = performance.now();
  for (const finish of all) finish(at);
}
