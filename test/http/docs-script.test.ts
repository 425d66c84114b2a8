/** The script of the docs page: its coding, and how long it may be kept. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startTestApp } from '../support/app.ts';
import { assertError, send } from '../support/request.ts';

const service = await startTestApp({ corsOrigin: ['https://shop.test'] });
after(() => service[Symbol.asyncDispose]());
const { port } = service;

const page = await send(port, { path: '/docs/' });
const [, name] = /<script defer src="(js\/scalar-[0-9a-f]+\.js)">/.exec(page.body) ?? [];
assert.ok(name, page.body);
const path = `/docs/${name}`;

for (const method of ['GET', 'HEAD']) {
  test(`docs script › ${method} › is compressed, and may be kept for a year, by each origin for itself`, async () => {
    const { status, headers } = await send(port, { method, path });
    assert.equal(status, 200);
    assert.equal(headers['content-encoding'], 'gzip');
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.equal(headers.vary, 'Origin');
    assert.equal(headers['content-type'], 'text/javascript; charset=utf-8');
    assert.equal(headers['x-content-type-options'], 'nosniff');
  });
}

test('docs script › its bytes › are a script of 4 MB in less than a third of it', async () => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`);
  const script = await answer.text();
  assert.ok(script.includes('createApiReference'));
  const length = Number(answer.headers.get('content-length'));
  assert.ok(length < script.length * 0.31, String(length));
});

test('docs script › another name › answers 404 that is not kept', async () => {
  for (const name of ['scalar.js', 'scalar-0.0.0.js', '']) {
    const answer = await send(port, { path: `/docs/js/${name}` });
    assertError(answer, 'not_found', /^there is nothing at this path/);
  }
});
