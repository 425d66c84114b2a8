/** Each limit: what is below it and at it passes, and what is above it meets what the table says. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { TokenBuckets } from '../src/http/hooks/rate-limit.ts';
import { HTTP_LIMITS } from '../src/http/limits.ts';
import { SCRIPT_NAME } from '../src/http/routes/docs.ts';
import type { Limit } from '../src/limit.ts';
import { SERVICE_LIMITS } from '../src/service/limits.ts';
import { METRICS } from '../src/service/metrics.ts';
import { STORE_LIMITS } from '../src/storage/limits.ts';
import { settle } from '../src/storage/postgres/settled-mark.ts';
import { startSharedApp, startTestApp } from './support/app.ts';
import { send } from './support/request.ts';
import { type Answer, openConnection, parseAnswer, sendUntilUnread } from './support/socket.ts';
import { nextPoll, until } from './support/until.ts';

const LIMITS = { ...HTTP_LIMITS, ...STORE_LIMITS, ...SERVICE_LIMITS };
/** A reader of docs/limits.md must find the limit that was met. */
const ROWS_MAX = 25;

/** Resolves to what happens with so much; undefined when it passes. */
type Try = (amount: number, t: TestContext) => Promise<string | undefined>;

interface Row {
  readonly try: Try;
  /** Whether exactly so much still passes: a time is over at its limit. */
  readonly passesAt: boolean;
}

/** A test of another file, which tries the same. */
interface Elsewhere {
  readonly file: string;
  readonly title: string;
}

const upTo = (tryOne: Try): Row => ({ try: tryOne, passesAt: true });
const before = (tryOne: Try): Row => ({ try: tryOne, passesAt: false });
const elsewhere = (file: string, title: string): Elsewhere => ({ file, title });

const service = await startSharedApp();
const { port, authorization } = service;

/** In the words of the tables. */
function describeAnswer({ status, headers }: Answer): string | undefined {
  if (status < 400) return undefined;
  return headers.connection === 'close' ? `${status}, close` : String(status);
}

const create = (body: string, headers = {}) =>
  send(port, {
    ...{ method: 'POST', path: '/v1/pets', body },
    headers: { ...authorization, ...headers },
  });

/** What is the answer to these bytes? */
async function ask(bytes: string): Promise<string | undefined> {
  using connection = openConnection(port);
  connection.socket.write(bytes);
  await once(connection.socket, 'data');
  return describeAnswer(parseAnswer(connection.received));
}

const get = (fields: string) => ask(`GET /livez HTTP/1.1\r\nHost: x\r\n${fields}\r\n`);

const REX = '{"name":"Rex","categoryId":1}';
const POST_CHUNKED = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nAuthorization: ${authorization.authorization}\r\n\r\n`;

const ROWS: Readonly<Record<keyof typeof LIMITS, Row | Elsewhere>> = {
  BODY_BYTES_MAX: upTo(async (bytes) => describeAnswer(await create(REX.padEnd(bytes)))),
  BODY_PARTS_MAX: upTo((chunks) => {
    const body = REX.padEnd(chunks).replaceAll(/./g, '1\r\n$&\r\n');
    return ask(`${POST_CHUNKED}${body}0\r\n\r\n`);
  }),
  // Node counts no punctuation.
  HEADER_BYTES_MAX: before((bytes) => get(`X: ${'x'.repeat(bytes - '/livezHostxX'.length)}\r\n`)),
  HEADER_FIELDS_MAX: upTo((fields) => get('a:\r\n'.repeat(fields - 1))),
  HEADER_SECONDS_MAX: elsewhere('http/timeouts', ' s and closes'),
  REQUEST_SECONDS_MAX: elsewhere('http/timeouts', ' s and closes'),
  JSON_VALUES_MAX: upTo(async (members) => {
    const others = Array.from({ length: members - 2 }, (_, index) => `,"${index}":1`);
    return describeAnswer(await create(REX.replace('}', `${others.join('')}}`)));
  }),
  JSON_LEVELS_MAX: elsewhere('json', '16 levels of objects and one more'),
  IDEMPOTENCY_KEY_CHARACTERS_MAX: upTo(async (length) =>
    describeAnswer(await create(REX, { 'idempotency-key': 'x'.repeat(length) })),
  ),
  IDEMPOTENCY_MS: elsewhere('storage/contract/pets-add', 'after 24 hours and not before'),
  WAIT_MS_MAX: elsewhere('http/fair-queue', 'requests that wait for too long'),
  REFUSE_MS: before(async (ms, t) => {
    const rateLimiter = new TokenBuckets(1, 0);
    const take = t.mock.method(rateLimiter, 'take');
    await using limited = await startTestApp({ rateLimiter });
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const sending = send(limited.port, { path: '/v1/pets', headers: limited.authorization });
    await until(() => take.mock.callCount() === 1);
    t.mock.timers.tick(ms);
    for (let turn = 0; turn < 3; turn += 1) await nextPoll();
    const isAnswered = limited.app.readConnections().requestsAtWork === 0;
    t.mock.timers.tick(60_000);
    const answer = await sending;
    return isAnswered ? describeAnswer(answer) : undefined;
  }),
  UNREAD_MS_MAX: before(async (ms, t) => {
    using connection = openConnection(port);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const request = `GET /docs/js/${SCRIPT_NAME} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const { socket } = await sendUntilUnread(connection.socket, request);
    const accepting = socket as Socket;
    t.mock.timers.tick(ms);
    const isReset = accepting.destroyed;
    connection.socket.resume();
    await until(() => service.app.readConnections().requestsAtWork === 0);
    // An answer that was read at last has no timer.
    t.mock.timers.tick(60_000);
    const isResetLate = accepting.destroyed && !isReset;
    connection.socket.destroy();
    await until(() => accepting.closed);
    if (isResetLate) return 'the connection is reset after the answer was read';
    return isReset ? 'the connection is reset' : undefined;
  }),
  IDLE_MS_MAX: elsewhere('http/timeouts', 'of a connection on which nothing happens'),
  KEEP_ALIVE_MS_MAX: elsewhere('http/timeouts', 'of a connection on which nothing happens'),
  LINGER_BYTES_MAX: elsewhere('http/unread-body', 'is cut off after its'),
  SETTLE_MS_MAX: before(async (ms, t) => {
    let clock = 0;
    t.mock.method(performance, 'now', () => clock);
    const marks = [1n, 1n, 2n];
    const pets = [1n, 2n].map((id) => ({ id, name: 'Rex', categoryId: 1n }));
    const { next } = await settle(async () => {
      const mark = marks.shift() ?? 2n;
      clock = ms;
      return { page: { pets, next: 2n }, mark };
    });
    return next === 1n ? STORE_LIMITS.SETTLE_MS_MAX.then : undefined;
  }),
  BUSY_MS_MAX: elsewhere('storage/sqlite-engine', 'while another holds the lock'),
  LOG_UNITS_MAX: elsewhere('service/log', 'keeps 8 MiB, drops the newest lines'),
  LABELS_MAX: elsewhere('service/metrics', 'more keys than have a label each'),
  DRAIN_MS_MAX: elsewhere('service/listener', 'a request never ends › cuts it after 10 s'),
  WORKER_STOP_MS_MAX: elsewhere('service/workers', 'is killed after 13 s, and not before'),
};

const NAMES = Object.keys(LIMITS) as (keyof typeof LIMITS)[];
const own = NAMES.flatMap((name) => {
  const row = ROWS[name];
  return 'try' in row ? [{ name, row, limit: LIMITS[name] as Limit }] : [];
});

for (const { name, row, limit } of own) {
  const { value, then } = limit;
  test(`limits › ${name} › passes below, and meets above what the table says`, async (t) => {
    for (const [amount, expected] of [
      [value - 1, undefined],
      [value, row.passesAt ? undefined : then],
      [value + 1, then],
    ] as const) {
      assert.equal(await row.try(amount, t), expected, `${amount}`);
      t.mock.reset();
      t.mock.timers.reset();
    }
  });
}

test('limits › the test in another file, and the metric › are there', () => {
  const missing = NAMES.filter((name) => {
    const row = ROWS[name];
    const { metric } = LIMITS[name] as Limit;
    if (metric !== '' && !(metric in METRICS)) return true;
    if ('try' in row) return false;
    const text = readFileSync(join(import.meta.dirname, `${row.file}.test.ts`), 'utf8');
    return !text.includes(row.title);
  });
  assert.deepEqual(missing, []);
});

test('docs/limits.md › its table › is short', () => {
  assert.ok(Object.keys(LIMITS).length <= ROWS_MAX);
});
