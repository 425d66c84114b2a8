/** The hooks of every answer: its turn, the log line of the request, and how its connection goes on. */

import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import { badRequest } from '../../error.ts';
import { HTTP_LIMITS } from '../limits.ts';
import type { BodyRequest } from '../protocol/body.ts';
import type { RequestLog } from '../request-log.ts';

const LATE = badRequest('the body came after the answer');

/** An answer before the queue, such as a refusal, waits there too. After too long it is sent as it is. */
export const waitForTurn: onSendHookHandler = (request, _reply, _payload, done) => {
  if (request.place === null) request.server.queue.enter(request, () => done());
  else done();
};

/** An `onSend` hook: `onResponse` would cost as much as all other hooks together. */
export function createFinishHead(
  requestLog: RequestLog,
  isStopping: () => boolean,
): onSendHookHandler {
  return function finishHead(request, reply, _payload, done) {
    reply.header('x-request-id', request.id);
    endUnreadBody(request, reply);
    if (isStopping()) reply.header('connection', 'close');
    requestLog.writeAnswer(request, reply.statusCode);
    done();
  };
}

/** Sends the answers of a turn together, at its end: a client wakes once for all. This saves 8 % of a list or more. */
export function createSendTogether(): onSendHookHandler {
  const toSend: (() => void)[] = [];
  const sendAll = () => {
    for (const send of toSend.splice(0)) send();
  };

  return function sendTogether(request, reply, _payload, done) {
    const send = () => {
      request.server.queue.leave(request);
      try {
        done();
      } catch (error) {
        // Fastify sends the answer in this call. In a later turn nobody else would catch its error.
        done(error as Error);
      }
      boundUnreadAnswer(reply.raw);
    };
    if (toSend.push(send) === 1) setImmediate(sendAll);
  };
}

/** A body that comes after its answer ends the connection, unless its length is announced and at most BODY_BYTES_MAX. */
function endUnreadBody({ raw, headers }: FastifyRequest, reply: FastifyReply): void {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers;
  if (length === '0' && coding === undefined) return;
  // The connection keeps its last request, which must not keep a body that nobody has read.
  (raw as BodyRequest).refuse(LATE);
  const isShort = coding === undefined && Number(length) <= HTTP_LIMITS.BODY_BYTES_MAX.value;
  if (!raw.complete && !isShort) reply.header('connection', 'close');
}

/** Resets the connection when its client does not read the answer that was just written: this frees its bytes. */
function boundUnreadAnswer(response: ServerResponse): void {
  const { socket } = response;
  // Nearly every answer fits into the buffers of the kernel.
  if (socket === null || socket.writableLength === 0) return;
  const timer = setTimeout(() => socket.resetAndDestroy(), HTTP_LIMITS.UNREAD_MS_MAX.value);
  response.once('close', () => clearTimeout(timer));
}
