/** One connection: sends what a conversation says, and checks what comes back. */

import { connect, type Socket } from 'node:net';
import { type Answer, AnswerReader, check, checkAnswer } from './answers.ts';
import type { Conversation, Framed } from './requests.ts';

/** A connection lasts up to 0.3 s. One body of 64 KiB that is read in quadratic time takes over 2 s, and all connections wait for it. */
const MS_MAX = 6_000;

/** Answers that come from the parser have an X-Request-Id of their own, and end the connection. */
const PARSER_STATUSES = [400, 413, 431];

/**
 * Resolves when the connection is closed.
 *
 * @throws Error for the first thing that is wrong.
 */
export function converse(
  port: number,
  conversation: Conversation,
  onAnswer: (status: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const judge = new Judge(conversation, onAnswer);
    const fail = (error: unknown) => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(() => {
      fail(new Error(`no end after ${MS_MAX} ms, ${judge.describe()}, ${socket.readyState}`));
    }, MS_MAX);
    let wasReset = false;
    socket.on('connect', () => send(socket, conversation));
    socket.on('data', (bytes: Buffer) => {
      try {
        if (judge.read(bytes)) socket.end();
      } catch (error) {
        fail(error);
      }
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      wasReset = error.code === 'ECONNRESET' || error.code === 'EPIPE';
      if (!wasReset || !conversation.isBroken) fail(error);
    });
    socket.on('close', () => {
      clearTimeout(timer);
      try {
        judge.end(wasReset);
        resolve();
      } catch (error) {
        reject(error);
      }
    });
  });
}

function send(socket: Socket, { parts, isBroken }: Conversation): void {
  let at = 0;
  const next = () => {
    const part = parts[at];
    at += 1;
    if (part !== undefined && socket.writable) {
      socket.write(part);
      setImmediate(next);
    } else if (isBroken && socket.writable) socket.end();
  };
  next();
}

class Judge {
  readonly #conversation: Conversation;
  readonly #onAnswer: (status: number) => void;
  readonly #reader = new AnswerReader();
  #answered = 0;
  #isLast = false;

  constructor(conversation: Conversation, onAnswer: (status: number) => void) {
    this.#conversation = conversation;
    this.#onAnswer = onAnswer;
  }

  /** Whether nothing more is to come. */
  read(bytes: Buffer): boolean {
    check(!this.#isLast, 'bytes came after the answer that ends the connection');
    this.#reader.add(bytes);
    const { requests, isBroken } = this.#conversation;
    for (;;) {
      if (this.#reader.isEmpty) break;
      const request = isBroken ? undefined : requests[this.#answered];
      const answer = this.#reader.next(request?.method);
      if (answer === undefined) break;
      check(!this.#isLast, 'there is an answer after the one that ends the connection');
      this.#isLast = answer.headers.get('connection') === 'close';
      this.#judge(answer, request);
    }
    return !isBroken && this.#answered === requests.length;
  }

  #judge(answer: Answer, request: Framed | undefined): void {
    const { status, headers, body } = answer;
    try {
      checkAnswer(answer);
      check(status !== 408, 'it waited for something');
      if (!this.#conversation.isBroken) {
        check(request !== undefined, 'there are more answers than requests');
        const isParsers = this.#isLast && PARSER_STATUSES.includes(status);
        check(
          status === 503 || isParsers || request?.statuses.includes(status) === true,
          `the status is none of ${request?.statuses}`,
        );
        check(
          isParsers || headers.get('x-request-id') === request?.id,
          'it answers another request',
        );
      }
    } catch (cause) {
      const sent = request === undefined ? '' : `, to ${show(request.bytes)}`;
      throw new Error(`answer ${this.#answered}, ${status} ${body.slice(0, 500)}${sent}`, {
        cause,
      });
    }
    this.#answered += 1;
    this.#onAnswer(status);
  }

  /** How far it is. */
  describe(): string {
    return `${this.#answered} of ${this.#conversation.requests.length} answers`;
  }

  end(wasReset: boolean): void {
    const { isBroken, requests } = this.#conversation;
    check(wasReset || this.#reader.isEmpty, 'an answer was cut off');
    if (isBroken) return;
    const isDone = this.#isLast || this.#answered === requests.length;
    check(isDone, `closed after ${this.#answered} of ${requests.length} answers`);
  }
}

/** Bytes as a text that JavaScript reads back. */
export function show(bytes: Buffer): string {
  return JSON.stringify(bytes.toString('latin1', 0, 1_500));
}
