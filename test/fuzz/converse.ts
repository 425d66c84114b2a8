/** One connection: sends what a conversation says, and checks what comes back. */

import { setImmediate } from 'node:timers/promises';
import { openConnection } from '../support/socket.ts';
import { type Answer, check, checkAnswer, readAnswers } from './answers.ts';
import { type Conversation, type Framed, frame } from './requests.ts';

/** A connection lasts up to 0.3 s. One body of 64 KiB that is read in quadratic time takes over 2 s, and all connections wait for it. */
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
  conversation: Conversation,
  onAnswer: (status: number) => void,
): Promise<void> {
  const { isBroken, parts } = conversation;
  const requests = isBroken ? [] : [...conversation.requests, LAST];
  using connection = openConnection(port);
  const { socket } = connection;
  const ended = connection.readToEnd(MS_MAX).then(
    () => false,
    (error) => {
      if (isBroken && /ECONNRESET|EPIPE/.test(error.cause.code)) return true;
      throw error;
    },
  );
  // A failure is thrown below, when all is sent.
  ended.catch(() => undefined);
  for (const part of isBroken ? parts : [...parts, LAST.bytes]) {
    if (!socket.writable) break;
    socket.write(part);
    await setImmediate();
  }
  if (isBroken) socket.end();
  const wasReset = await ended;
  const methods = requests.map(({ method }) => method);
  let answered = 0;
  let isLast = false;
  for (const answer of readAnswers(connection.received, methods, wasReset)) {
    check(!isLast, 'there is an answer after the one that ends the connection');
    isLast = answer.headers.get('connection') === 'close';
    judge(answer, answered, isBroken, requests[answered]);
    answered += 1;
    onAnswer(answer.status);
  }
  check(isBroken || isLast, `closed after ${answered} of ${requests.length} answers`);
}

function judge(answer: Answer, at: number, isBroken: boolean, request: Framed | undefined): void {
  const { status, headers, body } = answer;
  try {
    checkAnswer(answer);
    check(status !== 408, 'it waited for something');
    if (isBroken) return;
    const isParsers = headers.get('connection') === 'close' && PARSER_STATUSES.includes(status);
    const isAllowed = status === 503 || isParsers || request?.statuses.includes(status) === true;
    check(isAllowed, `the status is none of ${request?.statuses}`);
    const isOfRequest = isParsers || headers.get('x-request-id') === request?.id;
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
