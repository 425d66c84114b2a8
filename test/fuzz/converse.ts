/** One connection: sends what a conversation says, and checks what comes back. */

import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection, type RawConnection } from '../support/socket.ts';
import { type Answer, check, checkAnswer, readAnswers } from './answers.ts';
import { type Broken, type Conversation, type Framed, frame } from './requests.ts';

/** One body of 64 KiB that is read in quadratic time takes over 2 s, and all connections wait for it. */
const MS_MAX = 6_000;

/** Answers that come from the parser have an X-Request-Id of their own, and end the connection. */
const PARSER_STATUSES = [400, 413, 431];

/** The last request of a conversation that is not broken. */
const LAST = frame('GET', '/livez', { id: 'last', fields: 'Connection: close\r\n' }, [200]);

/**
 * Resolves when the connection is closed.
 *
 * @throws Error for the first thing that is wrong.
 */
export async function converse(
  port: number,
  { requests, broken }: Conversation,
  onAnswer: (status: number) => void,
): Promise<void> {
  using connection = openConnection(port, { allowHalfOpen: true });
  if (broken === undefined) await sendInOrder(connection, [...requests, LAST], onAnswer);
  else await sendBroken(connection, broken, onAnswer);
}

/** Sends each request when the one before it has its whole answer. */
async function sendInOrder(
  connection: RawConnection,
  requests: readonly Framed[],
  onAnswer: (status: number) => void,
): Promise<void> {
  const ended = connection.readToEnd(MS_MAX);
  // A failure is thrown below, when all is sent.
  ended.catch(() => undefined);
  const methods = requests.map(({ method }) => method);
  for (const [at, request] of requests.entries()) {
    for (const part of request.parts) {
      connection.socket.write(part);
      if (request.parts.length > 1) await sleep(0);
    }
    const answer = await readAnswerAt(connection, methods, at);
    check(answer !== undefined, `closed after ${at} of ${requests.length} answers`);
    judge(answer as Answer, at, request);
    onAnswer((answer as Answer).status);
    if (answer?.headers.get('connection') === 'close') break;
  }
  connection.socket.end();
  const count = [...readAnswers(await ended, methods, false)].length;
  check(count <= requests.length, 'there is an answer without a request');
}

/** The answer with this number; undefined if the connection was closed before it came. */
async function readAnswerAt(
  connection: RawConnection,
  methods: readonly string[],
  at: number,
): Promise<Answer | undefined> {
  const { socket } = connection;
  for (;;) {
    const answers = [...readAnswers(connection.received, methods, true)];
    if (answers.length > at || socket.readableEnded || socket.closed) return answers[at];
    await nextEvent(socket);
  }
}

function nextEvent(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const names = ['data', 'end', 'close'];
  for (const name of names) socket.on(name, resolve);
  return promise.finally(() => names.map((name) => socket.off(name, resolve)));
}

/** The service may answer, drop or refuse what it gets. Each answer must be well-formed. */
async function sendBroken(
  connection: RawConnection,
  { parts, pauseMs, isReset }: Broken,
  onAnswer: (status: number) => void,
): Promise<void> {
  const { socket } = connection;
  const ended = connection.readToEnd(MS_MAX).then(
    () => false,
    (error) => {
      if (/ECONNRESET|EPIPE/.test(error.cause.code)) return true;
      throw error;
    },
  );
  ended.catch(() => undefined);
  for (const part of parts) {
    if (!socket.writable) break;
    socket.write(part);
    await sleep(pauseMs);
  }
  if (isReset) socket.resetAndDestroy();
  else socket.end();
  const isCut = await ended;
  let isLast = false;
  for (const answer of readAnswers(connection.received, [], isCut || isReset)) {
    check(!isLast, 'there is an answer after the one that ends the connection');
    isLast = answer.headers.get('connection') === 'close';
    judge(answer);
    onAnswer(answer.status);
  }
}

/** @param request absent if it is not known which one is answered. */
function judge(answer: Answer, at = 0, request?: Framed): void {
  const { status, headers, body } = answer;
  try {
    checkAnswer(answer);
    check(status !== 408, 'it waited for something');
    if (request === undefined) return;
    const isParsers = headers.get('connection') === 'close' && PARSER_STATUSES.includes(status);
    const isAllowed = status === 503 || isParsers || request.statuses.includes(status);
    check(isAllowed, `the status is none of ${request.statuses}`);
    const isOfRequest = isParsers || headers.get('x-request-id') === request.id;
    check(isOfRequest, 'it answers another request');
  } catch (cause) {
    const sent = request === undefined ? '' : `, to ${show(request.bytes)}`;
    throw new Error(`answer ${at}, ${status} ${body.slice(0, 500)}${sent}`, { cause });
  }
}

/** Bytes as a text that JavaScript reads back. */
export function show(bytes: Buffer): string {
  return JSON.stringify(bytes.toString('latin1', 0, 1_500));
}
