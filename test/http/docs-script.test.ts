/** The script of the docs page: its codings, and how long it may be kept. */

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { startTestApp } from '../support/app.ts';
import { assertError, send } from '../support/request.ts';

const service = await startTestApp({ corsOrigin: ['https://shop.test'] });
after(() => service[Symbol.asyncDispose]());
const { port } = service;

const page = await send(port, { path: '/docs/' });
const [, name] = /<script defer src="(js\/scalar-\d+\.\d+\.\d+\.js)">/.exec(page.body) ?? [];
assert.ok(name, page.body);
const path = `/docs/${name}`;

/** The bytes as they are sent. */
async function readRaw(field: string): Promise<{ head: string; body: Buffer }> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${field}\r\n`);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const end = bytes.indexOf('\r\n\r\n');
  return { head: bytes.subarray(0, end).toString(), body: bytes.subarray(end + 4) };
}

const plain = (await readRaw('')).body;
const asIs = (bytes: Buffer) => bytes;

for (const [accepted, coding, decode, share] of [
  ['Accept-Encoding: gzip, deflate, br, zstd\r\n', 'gzip', gunzipSync, 0.31],
  ['Accept-Encoding: br;q=0, GZIP;q=0.5\r\n', 'gzip', gunzipSync, 0.31],
  ['Accept-Encoding: br ,gzip; q=0\r\n', undefined, asIs, 1],
  ['Accept-Encoding: gzip;q=0.000\r\n', undefined, asIs, 1],
  ['Accept-Encoding: gzipped\r\n', undefined, asIs, 1],
  ['Accept-Encoding: \r\n', undefined, asIs, 1],
  ['', undefined, asIs, 1],
] as const) {
  test(`docs script › ${accepted.trim() || 'no Accept-Encoding'} › is sent as ${coding ?? 'it is'}`, async () => {
    const { head, body } = await readRaw(accepted);
    assert.equal(/Content-Encoding: (\w+)/.exec(head)?.[1], coding);
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

test('docs script › another name › answers 404 that is not kept', async () => {
  for (const name of ['scalar.js', 'scalar-0.0.0.js', '']) {
    const answer = await send(port, { path: `/docs/js/${name}` });
    assertError(answer, 'not_found', /^there is nothing at this path/);
  }
});
