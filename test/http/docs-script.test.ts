/** The script of the docs page: its codings, how long it may be kept, and clients that do not read it. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { startTestApp } from '../support/app.ts';
import { assertError, send } from '../support/request.ts';
import { exchange, parseAnswer } from '../support/socket.ts';
import { until } from '../support/until.ts';

const service = await startTestApp({ corsOrigin: ['https://shop.test'] });
after(() => service[Symbol.asyncDispose]());
const { port } = service;

/** The path of the script, as the page has it. */
async function findScript(at: number): Promise<string> {
  const { body } = await send(at, { path: '/docs/' });
  const [, name] = /<script defer src="(js\/scalar-\d+\.\d+\.\d+\.js)">/.exec(body) ?? [];
  assert.ok(name, body);
  return `/docs/${name}`;
}

const path = await findScript(port);

/** The bytes as they are sent. */
async function readRaw(field: string): Promise<{ head: string; body: Buffer }> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${field}\r\n`);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const end = bytes.indexOf('\r\n\r\n');
  return { head: bytes.subarray(0, end).toString(), body: bytes.subarray(end + 4) };
}

const plain = (await readRaw('')).body;
const asIs = (bytes: Buffer) => bytes;

for (const [accepted, coding, decode, share] of [
  ['Accept-Encoding: gzip, deflate, br, zstd\r\n', 'br', brotliDecompressSync, 0.26],
  ['Accept-Encoding: BR;q=0.5\r\n', 'br', brotliDecompressSync, 0.26],
  ['Accept-Encoding: gzip\r\n', 'gzip', gunzipSync, 0.31],
  ['Accept-Encoding: br;q=0, gzip;q=1.0\r\n', 'gzip', gunzipSync, 0.31],
  ['Accept-Encoding: br;q=0.000 ,gzip; q=0\r\n', undefined, asIs, 1],
  ['Accept-Encoding: brother\r\n', undefined, asIs, 1],
  ['Accept-Encoding: \r\n', undefined, asIs, 1],
  ['', undefined, asIs, 1],
] as const) {
  test(`docs script › ${accepted.trim() || 'no Accept-Encoding'} › is sent as ${coding ?? 'it is'}`, async () => {
    const { head, body } = await readRaw(accepted);
    assert.equal(/content-encoding: (\w+)/i.exec(head)?.[1], coding);
    assert.match(head, new RegExp(`content-length: ${body.length}\r\n`, 'i'));
    assert.ok(body.length <= plain.length * share, String(body.length));
    assert.ok(decode(body).equals(plain));
  });
}

for (const method of ['GET', 'HEAD']) {
  test(`docs script › ${method} › may be kept for a year, by each coding and origin for itself`, async () => {
    const { status, headers, body } = await send(port, { method, path });
    assert.equal(status, 200);
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.equal(headers.vary, 'Origin, Accept-Encoding');
    assert.equal(headers['content-type'], 'text/javascript; charset=utf-8');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['content-length'], String(plain.length));
    assert.equal(body, method === 'HEAD' ? '' : plain.toString());
  });
}

test('docs script › the page that loads it › is not kept', async () => {
  const { headers } = await send(port, { path: '/docs/' });
  assert.equal(headers['cache-control'], 'no-store');
});

test('docs script › another name › answers 404 that is not kept', async () => {
  for (const name of ['scalar.js', 'scalar-0.0.0.js', '']) {
    const answer = await send(port, { path: `/docs/js/${name}` });
    assertError(answer, 'not_found', /^there is nothing at this path/);
  }
});

interface Reader {
  readonly socket: Socket;
  error?: string | undefined;
}

/** A client that asks for the script and does not read it. */
async function openReader(t: TestContext, at: number, from: string, more = ''): Promise<Reader> {
  const socket = connect(at, '127.0.0.1').pause();
  const reader: Reader = { socket };
  socket.on('error', ({ code }: NodeJS.ErrnoException) => {
    reader.error = code;
  });
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  socket.write(`GET ${from} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: br\r\n${more}\r\n`);
  return reader;
}

/** How many bytes the client gets that reads at last, and the error that ends them. */
async function readOn(reader: Reader): Promise<{ bytes: number; error: string | undefined }> {
  let bytes = 0;
  reader.socket.on('data', (chunk) => {
    bytes += chunk.length;
  });
  const closed = new Promise((resolve) => reader.socket.once('close', resolve));
  reader.socket.resume();
  if (!reader.socket.closed) await closed;
  return { bytes, error: reader.error };
}

test('docs script › 32 clients do not read it › the next one is 503, and after 10 s the oldest is reset', async (t) => {
  await using app = await startTestApp();
  const from = await findScript(app.port);
  const readers: Reader[] = [];
  for (let count = 0; count < 32; count += 1) {
    readers.push(await openReader(t, app.port, from));
    while (app.log.filter(({ route }) => route === '/docs/js/:name').length < readers.length) {
      await sleep(1);
    }
  }
  const refused = await send(app.port, { path: from });
  assertError(refused, 'unavailable', /Retry-After/);
  assert.equal(refused.headers['retry-after'], '1');
  assert.equal((await send(app.port, { method: 'HEAD', path: from })).status, 200);

  const { now } = performance;
  t.mock.method(performance, 'now', () => now.call(performance) + 10_000);
  assert.equal((await send(app.port, { path: from })).status, 200);
  t.mock.restoreAll();
  const [first, ...others] = await Promise.all(readers.map(readOn));
  assert.equal(first?.error, 'ECONNRESET');
  for (const { bytes, error } of others) {
    assert.equal(error, undefined);
    assert.ok(bytes > 1_000_000, String(bytes));
  }
  // All of them have left.
  const again = Array.from({ length: 32 }, () => send(app.port, { path: from }));
  assert.ok((await Promise.all(again)).every(({ status }) => status === 200));
});

test('docs script › 32 clients do not read it for 10 s, and 40 others ask at once › 32 of these get it', async (t) => {
  await using app = await startTestApp();
  const from = await findScript(app.port);
  const answers = () => app.log.filter(({ route }) => route === '/docs/js/:name');
  await Promise.all(Array.from({ length: 32 }, () => openReader(t, app.port, from)));
  await until(() => answers().length === 32);
  let accepted = 0;
  app.app.server.on('connection', () => {
    accepted += 1;
  });
  const others = Array.from({ length: 40 }, () => connect(app.port, '127.0.0.1').pause());
  t.after(() => others.map((socket) => socket.destroy()));
  await until(() => accepted === others.length);
  const { now } = performance;
  t.mock.method(performance, 'now', () => now.call(performance) + 10_000);
  for (const socket of others) socket.write(`GET ${from} HTTP/1.1\r\nHost: x\r\n\r\n`);
  // Of the 8 refusals 5 are logged.
  await until(() => answers().length >= 64 + 5);
  assert.equal(answers().filter(({ status }) => status === 200).length, 64);
});

test('docs script › its client sends a second request behind it › gets the script alone', async () => {
  const script = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const text = await exchange(port, script + script);
  assert.equal(parseAnswer(text).headers.connection, 'close');
  assert.equal(text.split('HTTP/1.1 200 OK').length, 2);
});

describe('a client that is late', { concurrency: true }, () => {
  test('docs script › its client reads it 3 s later › gets all of it', async (t) => {
    const reader = await openReader(t, port, path);
    await sleep(3_000);
    const { bytes, error } = await readOn(reader);
    assert.equal(error, undefined);
    assert.ok(bytes > 1_000_000, String(bytes));
  });

  test('docs script › its client sends a body that nobody reads › is reset when it does not read', async (t) => {
    const reader = await openReader(t, port, path, 'Content-Length: 100000000\r\n');
    // Longer than the lingering close takes.
    await sleep(3_000);
    const { bytes, error } = await readOn(reader);
    assert.ok(bytes < plain.length);
    assert.equal(error, 'ECONNRESET');
  });
});
