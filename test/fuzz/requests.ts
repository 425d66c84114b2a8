/** Random requests: well-framed ones with wrong parameters, fields and bodies, and bytes that are no request. */

import { createCursor } from '../../src/http/cursor.ts';
import type { Dice } from '../support/dice.ts';

/** The bytes that one connection sends: nobody knows where a request of them ends. */
export interface Conversation {
  /** Each is written by itself. */
  readonly parts: readonly Buffer[];
  /** The pause behind each part, in milliseconds. */
  readonly pauseMs: number;
  /** Whether the client resets the connection at the end. Otherwise it ends its side. */
  readonly isReset: boolean;
}

const REQUESTS_MAX = 4;
const PAUSES_MS = [0, 0, 0, 1, 5];
const PARTS_MAX = 5;
const MUTATIONS_MAX = 6;

const METHODS = [
  ...['GET', 'GET', 'GET', 'GET', 'GET', 'GET', 'POST', 'POST', 'POST'],
  ...['HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND', 'QUERY'],
];
/** A text takes the place of each `@`. */
const TARGETS = [
  ...['/v1/pets', '/v1/pets', '/v1/pets', '/v1/pets/1', '/v1/pets/1'],
  ...['/v1/', '/v1/store/orders', '/livez', '/none', '/v1/pets/@'],
  ...['/v1/pets?limit=@', '/v1/pets?limit=9&status=@', '/v1/pets?cursor=@', '/v1/pets?@=@'],
  ...['/v1/pets?@&__proto__', '/v1/pets?limit=1&limit=@', '/v1/pets?limit[]=@;Limit=@&&'],
  `/v1/pets?limit=1&cursor=${createCursor(9n)}`,
];
const FIELDS = [
  ...['Accept: @', 'Accept-Encoding: @', 'Cookie: @', 'If-None-Match: @', 'Origin: @', 'Range: @'],
  ...['Idempotency-Key: a', 'Idempotency-Key: b', 'Idempotency-Key: @', 'Content-Type: @'],
  ...['Content-Encoding: @', 'Upgrade: @', 'Forwarded: @', 'X-Forwarded-For: @', 'traceparent: @'],
  ...['TE: @', 'Trailer: @', 'Access-Control-Request-Method: @', 'Expect: @', 'Connection: @'],
  ...['Keep-Alive: @', '__proto__: @', 'Authorization: @', 'Authorization: Bearer @'],
  ...['Authorization: Basic @', 'Authorization: Bearer petstore_stag_@'],
];
const TEXTS = [
  ...['', '0', '1', '20', '100', '101', '-1', '+1', '1.0', '1e2', '007', '9223372036854775807'],
  ...['9223372036854775808', '-9223372036854775808', '999999999999999999999999', 'NaN', 'null'],
  ...['available', 'Available', 'sold', 'true', '[]', '{}', '*', '.', '..', '%', '%2', '%zz'],
  ...['%00', '%2e%2e%2f', '%c0%af', '%ff', '%F0%9F%90%B6', "' or 1=1 --", '"; drop table pets'],
  ...['../../etc', '__proto__', 'constructor', 'toString', '<script>', '$' + '{7*7}', ',', ';'],
  ...['&', '=', '#', 'é', '"', '\t', 'a/b', 'close', 'keep-alive', 'websocket', '100-continue'],
  ...['gzip', 'application/json', 'application/json;charset=latin1', 'bytes=0-', 'http://a.test'],
  ...['POST', 'for=1.2.3.4', 'x, y', 'limit', 'status', 'cursor', createCursor(1n).slice(1)],
  ...['a'.repeat(255), 'a'.repeat(256), 'ÿ'.repeat(20)],
  ...['9'.repeat(2_000), '%41'.repeat(400), '/'.repeat(50), 'x'.repeat(9_000)],
];
/** What a long text of one unit begins with: often something that is never closed. */
const BEGINNINGS = [
  ...['', '', '"', '{', '{"', '{"a":', '{"a":"', '{"name":"Rex","categoryId":1,"', '[', '["'],
  ...['-', 'a:', 'application/json;', 'gzip;q=0', 'Bearer ', '00-'],
];
const UNITS = [
  ...[' ', '\t', ', ', '; ', '" '],
  ...String.raw`" \" \ \\ \u0041 [ ] [] { } {} {"a": "a":1, "", ": , : ; = 0 9 1, 0.`.split(' '),
  ...'1e a a: & &a= % %41 %25 / /.. ? # + charset= ;charset=utf-8 ;q=0 1.1.1.1,'.split(' '),
];
const ENDS = ['', '', '"', '"}', '":1}', '}', ']', '!', '%zz'];
/** Nearly as long as the service reads; the last is longer. */
const VALUE_LENGTH = 16_000;
const BODY_LENGTHS = [65_530, 65_530, 65_530, 70_000];
const JSON_TOKENS = [
  ...['{', '}', '[', ']', ',', ':', '"', '\\', '\\u0000', '\\ud800', '\\udc00', '\\x', '\0', '\n'],
  ...[' ', 'null', 'true', '-0', '1e400', '1.5', '1.0', '1e2', '-', '01', '9223372036854775808'],
  ...['\ufeff', '"name":"Rex"', ',"name":"Two"', '"categoryId":9223372036854775807', '"id":7'],
  ...['"__proto__":{}', '"status":"sold"', '"status":null', '/**/', "'", '\u2028', '\u{1f436}'],
  ...['"\\n":1', '{"a":'],
];
const WIRE_TOKENS = [
  ...['\r\n', '\n', '\r', '\0', ' ', ':', '\t', '\r\n\r\n', '\xff', '0\r\n\r\n', 'HTTP/1.1'],
  ...['GET / ', 'Content-Length: 5\r\n', 'Content-Length: -1\r\n'],
  ...['Content-Length: 99999999999999999999\r\n', 'Transfer-Encoding: chunked\r\n'],
  ...['Transfer-Encoding: gzip, chunked\r\n', 'Host: a, b\r\n'],
  ...['Connection: upgrade\r\nUpgrade: x\r\n', 'ffffffffffffffff\r\n', '5;a=b\r\n', ' folded\r\n'],
  ...['Expect: 100-continue\r\n', 'X: '.padEnd(17_000, 'x'), '\x16\x03\x01\x02\x00'],
  ...['PRI * HTTP/2.0', 'DESCRIBE / RTSP/1.1\r\n\r\n', 'GET https:// HTTP/1.1\r\n'],
  ...['\x01'.repeat(2_000)],
];

/** What a connection sends; the same for the same dice. */
export function createConversation(dice: Dice, key: string, name: string): Conversation {
  const requests = Array.from({ length: dice.below(REQUESTS_MAX) }, (_, at) =>
    createRequest(dice, key, `${name}.${at}`),
  );
  const bytes = Buffer.concat(requests);
  const parts = split(dice, dice.onceIn(3) ? bytes : mutate(dice, bytes));
  return { parts, pauseMs: dice.pick(PAUSES_MS), isReset: dice.onceIn(4) };
}

function createRequest(dice: Dice, key: string, id: string): Buffer {
  const fill = (template: string) => template.replace(/@/g, () => createText(dice));
  const method = dice.pick(METHODS);
  const isPost = method === 'POST' && !dice.onceIn(4);
  const target = isPost ? '/v1/pets' : fill(dice.pick(TARGETS)).replaceAll(' ', '+');
  const host = dice.onceIn(20) ? createText(dice) : 'x';
  const lines = [`${method} ${target} HTTP/1.1`, `X-Request-Id: ${id}`, `Host: ${host}`];
  if (!dice.onceIn(6)) lines.push(`Authorization: Bearer ${key}`);
  if (dice.onceIn(3)) lines.push(fill(dice.pick(FIELDS)));
  let body: Buffer = Buffer.alloc(0);
  if (method === 'POST' || dice.onceIn(9)) {
    body = createBody(dice);
    const isChunked = dice.onceIn(3);
    lines.push(isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`);
    if (isChunked) body = chunk(dice, body);
  }
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

function createText(dice: Dice): string {
  return dice.onceIn(9) ? createLongText(dice, VALUE_LENGTH) : dice.pick(TEXTS);
}

/** One unit many times: a regular expression that reads it again from each place holds up all clients. */
function createLongText(dice: Dice, length: number): string {
  return dice.pick(BEGINNINGS).padEnd(length, dice.pick(UNITS)) + dice.pick(ENDS);
}

/** The text of a pet, or something near to it, or a long text. */
function createBody(dice: Dice): Buffer {
  if (dice.onceIn(8)) return Buffer.from(createLongText(dice, dice.pick(BODY_LENGTHS)));
  let text = `{"name":"Rex ${dice.below(1_000)}","categoryId":${dice.below(9)},"status":"sold"}`;
  for (let count = dice.below(4); count > 0; count -= 1) {
    const at = dice.below(text.length);
    const end = at + (dice.onceIn(2) ? dice.below(12) : 0);
    text =
      text.slice(0, at) +
      dice.pick(JSON_TOKENS).repeat(dice.onceIn(20) ? 500 : 1) +
      text.slice(end);
  }
  const bytes = Buffer.from(text);
  if (dice.onceIn(10) && bytes.length > 0) bytes[dice.below(bytes.length)] = dice.below(256);
  return bytes;
}

function chunk(dice: Dice, body: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const part = body.subarray(at, at + 1 + dice.below(dice.onceIn(3) ? 4 : body.length));
    chunks.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'));
    at += part.length;
  }
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]);
}

function mutate(dice: Dice, bytes: Buffer): Buffer {
  let mutated = bytes;
  for (let count = 1 + dice.below(MUTATIONS_MAX); count > 0; count -= 1) {
    const at = dice.below(mutated.length + 1);
    const [before, after] = [mutated.subarray(0, at), mutated.subarray(at)];
    const end = dice.below(Math.min(after.length, 40) + 1);
    const added = dice.pick([
      () => Buffer.from(dice.pick(WIRE_TOKENS), 'latin1'),
      () => Buffer.from([dice.below(256)]),
      () => Buffer.from(Array.from({ length: dice.below(40) }, () => dice.below(256))),
      () => after.subarray(0, end),
      () => Buffer.alloc(0),
    ])();
    mutated = Buffer.concat([before, added, after.subarray(dice.onceIn(2) ? end : 0)]);
  }
  return dice.onceIn(3) ? mutated.subarray(0, dice.below(mutated.length + 1)) : mutated;
}

/** Cuts the bytes at some places, most often at none. */
function split(dice: Dice, bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let rest = bytes;
  for (let count = dice.onceIn(2) ? dice.below(PARTS_MAX) : 0; count > 0; count -= 1) {
    const at = dice.below(rest.length + 1);
    parts.push(rest.subarray(0, at));
    rest = rest.subarray(at);
  }
  return [...parts, rest].filter((part) => part.length > 0);
}
