/** The order in which the requests of a connection are started: a few at a time, the others wait. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AT_WORK_MAX, WAITING_MAX } from '../limits.ts';

type Start = (request: IncomingMessage, response: ServerResponse) => void;

interface Pipeline {
  /** The responses to the requests that were started; they are sent, and so finish, in this order. */
  readonly atWork: ServerResponse[];
  /** The responses to the requests that were parsed and are not started. */
  readonly waiting: ServerResponse[];
  /** The response to the request that was parsed last. */
  last: ServerResponse;
}

const PIPELINE = Symbol('pipeline');

declare module 'node:net' {
  interface Socket {
    [PIPELINE]?: Pipeline;
  }
}

/** How many requests wait on all connections of this process. */
let waitingTotal = 0;

/**
 * The listener of node:http's server that starts at most AT_WORK_MAX requests of a connection before
 * their answers are sent, and none while its unsent bytes are above the high-water mark of its socket.
 * Node parses all requests of one read (64 KiB) at once: those above wait, and nothing more is read
 * until the last of them is started.
 */
export function startInOrder(start: Start): Start {
  return (request, response) => {
    const { socket } = request;
    socket[PIPELINE] ??= createPipeline(socket, response);
    const pipeline = socket[PIPELINE];
    pipeline.last = response;
    if (pipeline.waiting.length === 0 && canStart(socket, pipeline)) {
      pipeline.atWork.push(response);
      start(request, response);
    } else wait(socket, pipeline, start);
  };
}

/** The response to the last request that was parsed on this connection. */
export function findLastResponse(socket: Socket): ServerResponse | undefined {
  return socket[PIPELINE]?.last;
}

function createPipeline(socket: Socket, last: ServerResponse): Pipeline {
  const waiting: ServerResponse[] = [];
  socket.once('close', () => {
    waitingTotal -= waiting.length;
    waiting.length = 0;
  });
  return { atWork: [], waiting, last };
}

function canStart(socket: Socket, { atWork }: Pipeline): boolean {
  while (atWork[0]?.writableFinished) atWork.shift();
  const before = atWork.at(-1);
  if (before === undefined) return socket.writable;
  if (atWork.length >= AT_WORK_MAX || socket.writableNeedDrain) return false;
  // The connection ends with that answer, so this request will have none (RFC 9112 section 9.6).
  return before.getHeader('connection') !== 'close';
}

function wait(socket: Socket, pipeline: Pipeline, start: Start): void {
  waitingTotal += 1;
  if (pipeline.waiting.push(pipeline.last) === 1) {
    stopReading(socket);
    startAtFinish(socket, pipeline, start);
  }
  if (waitingTotal > WAITING_MAX) socket.destroy();
}

/** Unsent bytes are those of a request at work, so one of these responses is still to finish. */
function startAtFinish(socket: Socket, pipeline: Pipeline, start: Start): void {
  pipeline.atWork[0]?.once('finish', () => {
    const { atWork, waiting } = pipeline;
    while (waiting[0] !== undefined && canStart(socket, pipeline)) {
      const response = waiting.shift() as ServerResponse;
      waitingTotal -= 1;
      atWork.push(response);
      start(response.req, response);
    }
    if (waiting.length === 0) startReading(socket);
    else startAtFinish(socket, pipeline, start);
  });
}

/** Node resumes a socket at the end of each request and when its bytes are sent: not this one. */
function stopReading(socket: Socket): void {
  socket.pause();
  socket.resume = () => socket;
}

function startReading(socket: Socket): void {
  Reflect.deleteProperty(socket, 'resume');
  socket.resume();
}
