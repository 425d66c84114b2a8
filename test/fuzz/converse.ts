/** One connection: sends what a conversation says, and checks what comes back. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, openConnection } from '../support/socket.ts';
import { check, checkAnswer, readAnswers } from './answers.ts';
import type { Conversation } from './requests.ts';

/** One body of 64 KiB that is read in quadratic time takes over 2 s, and all connections wait for it. */
const MS_MAX = 6_000;

/**
 * Resolves to the statuses of the answers when the connection is closed. The service may answer, drop or refuse
 * what it gets. Each answer must be well-formed.
 *
 * @throws Error for the first thing that is wrong, with what was sent.
 */
export async function converse(port: number, conversation: Conversation): Promise<number[]> {
  try {
    const statuses: number[] = [];
    let isLast = false;
    for (const answer of await exchange(port, conversation)) {
      check(!isLast, 'there is an answer after the one that ends the connection');
      isLast = answer.headers.connection === 'close';
      checkAnswer(answer);
      statuses.push(answer.status);
    }
    return statuses;
  } catch (cause) {
    const bytes = Buffer.concat(conversation.parts).toString('latin1', 0, 1_500);
    throw new Error(`a connection failed that sent ${JSON.stringify(bytes)}`, { cause });
  }
}

async function exchange(
  port: number,
  { parts, pauseMs, isReset }: Conversation,
): Promise<Generator<Answer>> {
  using connection = openConnection(port, { allowHalfOpen: true });
  const { socket } = connection;
  const ended = connection.readToEnd(MS_MAX).then(
    () => false,
    (error) => {
      if (/ECONNRESET|EPIPE/.test(error.cause.code)) return true;
      throw error;
    },
  );
  // A failure is thrown below, when all is sent.
  ended.catch(() => undefined);
  for (const part of parts) {
    if (!socket.writable) break;
    socket.write(part);
    await sleep(pauseMs);
  }
  if (isReset) socket.resetAndDestroy();
  else socket.end();
  const isCut = await ended;
  return readAnswers(connection.received, isCut || isReset);
}
