/** One connection: sends what a conversation says, reads the answers, and checks what holds for all of them. */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertError, assertJson } from '../support/request.ts';
import { type Answer, openConnection } from '../support/socket.ts';
import type { Conversation } from './requests.ts';

/** One body of 64 KiB that is read in quadratic time takes over 2 s, and all connections wait for it. */
const MS_MAX = 6_000;

const STATUS_LINE = /^HTTP\/1\.1 [1-5]\d\d [A-Za-z ]+$/;
const FIELD = /^([A-Za-z-]+): ([\t -~]*)$/;
/** The header that an answer of this status has. */
const REQUIRED: Readonly<Record<number, string>> = {
  201: 'location',
  401: 'www-authenticate',
  405: 'allow',
};
/** A message that shows nothing of the inside. */
const MESSAGE =
  /^(?!.*(?:\bat .+:\d+:\d+|node:|sqlite|select |insert |petstore_(?:stag|prod)_))./is;

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
      assert.ok(!isLast, 'there is an answer after the one that ends the connection');
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

/**
 * The answers of one connection, without 1xx.
 *
 * @param isCut whether the last answer may be incomplete.
 * @throws Error when one is not well-formed.
 */
function* readAnswers(received: string, isCut: boolean): Generator<Answer> {
  for (let rest = Buffer.from(received); rest.length > 0; ) {
    const read = readAnswer(rest);
    assert.ok(read !== undefined || isCut, 'an answer was cut off');
    if (read === undefined) return;
    rest = rest.subarray(read.length);
    if (read.status >= 200) yield read;
  }
}

/** The first answer of these bytes, and its length; undefined when it is not complete. */
function readAnswer(bytes: Buffer): (Answer & { length: number }) | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [statusLine = '', ...fields] = bytes.toString('latin1', 0, end).split('\r\n');
  assert.ok(STATUS_LINE.test(statusLine), `the status line is ${statusLine}`);
  const status = Number(statusLine.slice(9, 12));
  const headers = parseFields(fields);
  const start = end + 4;
  const mayHaveBody = status >= 200 && status !== 204;
  const size = headers['content-length'] ?? '';
  assert.ok(!mayHaveBody || /^\d+$/.test(size), 'Content-Length is missing');
  // An answer to HEAD: no body of the service begins like an answer.
  const isHead = ['', 'HTTP/1.1 '].includes(bytes.toString('latin1', start, start + 9));
  const length = start + (mayHaveBody && !isHead ? Number(size) : 0);
  if (bytes.length < length) return undefined;
  return { status, headers, body: bytes.toString('utf8', start, length), length };
}

function parseFields(fields: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const field of fields) {
    const [, name = '', value = ''] = FIELD.exec(field) ?? [];
    assert.ok(name !== '', `a header is ${field}`);
    assert.ok(!(name.toLowerCase() in headers), `${name} is there twice`);
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** @throws Error for the first thing that is wrong with it. */
function checkAnswer(answer: Answer): void {
  const { status, headers, body } = answer;
  assert.ok(status < 500 || status === 503, `the status is ${status}`);
  assert.ok(status !== 408, 'it waited for something');
  for (const name of ['date', 'x-request-id', REQUIRED[status] ?? 'date']) {
    assert.ok(name in headers, `${name} is missing`);
  }
  const isPage = headers['content-type']?.startsWith('text/html');
  if (isPage || status === 204 || (status >= 300 && status < 400)) return;
  // An answer to HEAD has no body.
  if (status < 400 || body === '') assertJson(answer, status);
  else assertError(answer, JSON.parse(body).code, MESSAGE);
}
