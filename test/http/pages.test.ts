/** The files of the console and the recipes, as they are served to anybody. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { RECIPES } from '../../src/http/recipes.ts';
import { startTestApp } from '../support/app.ts';
import { assertError, send } from '../support/request.ts';

const service = await startTestApp();
after(() => service[Symbol.asyncDispose]());
const { port } = service;

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

for (const path of ['docs', 'console']) {
  test(`GET /${path} › without the slash › redirects to it, relative to where it is`, async () => {
    const { status, headers } = await send(port, { path: `/${path}` });
    assert.deepEqual([status, headers.location], [301, `${path}/`]);
  });
}

test('GET /console/ › the page › names its files, which may be kept for a year', async () => {
  const page = await send(port, { path: '/console/' });
  assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
  assert.equal(page.headers['cache-control'], 'no-store');
  assert.match(
    page.headers['content-security-policy'] ?? '',
    /script-src 'self'; style-src 'self'/,
  );
  assert.match(page.body, /<head>\n<meta charset="utf-8">/);
  const paths = [...page.body.matchAll(/"([\da-f]{16}\/([^"]+))"/g)];
  assert.ok(paths.some(([, , name]) => name?.endsWith('.css')));
  assert.ok(paths.some(([, , name]) => name?.endsWith('.ts')));
  assert.doesNotMatch(page.body, /"files\//);
  for (const [, path, name = ''] of paths) {
    const { status, headers, body } = await send(port, { path: `/console/${path}` });
    assert.equal(status, 200);
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
    const isStyle = name.endsWith('.css');
    assert.equal(headers['content-type'], `text/${isStyle ? 'css' : 'javascript'}; charset=utf-8`);
    // Types are replaced by spaces.
    const source = await read(`src/${name}`);
    assert.equal(isStyle, body === source);
    assert.equal(body.length, source.length);
  }
  const missing = await send(port, { path: '/console/main.ts' });
  assertError(missing, 'not_found', /^there is nothing at this path/);
});

test('GET /docs/recipes › each recipe › is its file', async () => {
  for (const name of RECIPES.keys()) {
    const { headers, body } = await send(port, { path: `/docs/recipes/${name}` });
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
    assert.equal(body, await read(`docs/recipes/${name}`));
  }
});
