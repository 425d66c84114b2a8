/** Reads answers from the bytes of a connection, and checks what holds for all of them. */

import { STATUS_OF } from '../support/request.ts';

export interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

const STATUS_LINE = /^HTTP\/1\.1 [1-5]\d\d [A-Za-z ]+$/;
const FIELD = /^([A-Za-z-]+): ([\t -~]*)$/;
const CONSTANT_HEADERS = [
  ['x-content-type-options', 'nosniff'],
  ['cache-control', 'no-store'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
] as const;
/** The headers that an answer of this status has. */
const REQUIRED: Readonly<Record<number, string>> = {
  201: 'location',
  401: 'www-authenticate',
  405: 'allow',
  429: 'retry-after',
  503: 'retry-after',
};
/** What no message may show of the inside. */
const INSIDE = /\bat .+:\d+:\d+|node:|sqlite|select |insert |petstore_(?:stag|prod)_/i;

/**
 * The answers of one connection, without 1xx.
 *
 * @param isCut whether the last answer may be incomplete.
 * @throws Error when one is not well-formed.
 */
export function* readAnswers(received: string, isCut: boolean): Generator<Answer> {
  for (let rest = Buffer.from(received); rest.length > 0; ) {
    const read = readAnswer(rest);
    check(read !== undefined || isCut, 'an answer was cut off');
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
  check(STATUS_LINE.test(statusLine), `the status line is ${statusLine}`);
  const status = Number(statusLine.slice(9, 12));
  const headers = parseFields(fields);
  const start = end + 4;
  const mayHaveBody = status >= 200 && status !== 204;
  const size = headers.get('content-length') ?? '';
  check(!mayHaveBody || /^\d+$/.test(size), 'Content-Length is missing');
  // An answer to HEAD: no body of the service begins like an answer.
  const isHead = ['', 'HTTP/1.1 '].includes(bytes.toString('latin1', start, start + 9));
  const length = start + (mayHaveBody && !isHead ? Number(size) : 0);
  if (bytes.length < length) return undefined;
  return { status, headers, body: bytes.toString('utf8', start, length), length };
}

function parseFields(fields: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (const field of fields) {
    const [, name = '', value = ''] = FIELD.exec(field) ?? [];
    check(name !== '', `a header is ${field}`);
    check(!headers.has(name.toLowerCase()), `${name} is there twice`);
    headers.set(name.toLowerCase(), value);
  }
  return headers;
}

/** @throws Error for the first thing that is wrong with it. */
export function checkAnswer({ status, headers, body }: Answer): void {
  check(status < 500 || status === 503, `the status is ${status}`);
  check(headers.has('x-request-id') && headers.has('date'), 'X-Request-Id or Date is missing');
  const required = REQUIRED[status];
  check(required === undefined || headers.has(required), `${required} is missing`);
  if (headers.get('content-type')?.startsWith('text/html')) return;
  for (const [name, value] of CONSTANT_HEADERS) {
    check(headers.get(name) === value, `${name} is ${headers.get(name)}`);
  }
  if (status === 204 || (status >= 300 && status < 400)) return;
  check(headers.get('content-type') === 'application/json', 'it is not application/json');
  if (body === '') return;
  const value = JSON.parse(body);
  if (status >= 400) checkError(status, value);
}

function checkError(status: number, value: Record<string, unknown>): void {
  const { code, message } = value;
  check(Object.keys(value).join() === 'code,message,status', 'it is not of the Error shape');
  check(value.status === status, `status is ${value.status}`);
  check(STATUS_OF[code as keyof typeof STATUS_OF] === status, `code is ${code}`);
  check(typeof message === 'string' && message !== '', 'message is empty');
  check(!INSIDE.test(String(message)), 'message shows the inside');
}

export function check(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(what);
}
