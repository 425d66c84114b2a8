/** The pages and what they load, as they are served to anybody; `test/browser/` opens them. */

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { test } from 'node:test';
import { RECIPES } from '../../src/http/openapi.ts';
import { startSharedApp } from '../support/app.ts';
import { send } from '../support/request.ts';

const service = await startSharedApp({ corsOrigin: ['https://shop.test'] });
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
  const policy = page.headers['content-security-policy'] ?? '';
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
  assert.doesNotMatch(
    page.body,
    /<script(?! type="module" src="[^"]+"><\/script>)|<style| style="/,
  );
  assert.match(page.body, /<head>\n<meta charset="utf-8">/);
  const paths = [...page.body.matchAll(/"([\da-f]{16}\/([^"]+))"/g)];
  assert.ok(paths.some(([, , name]) => name?.endsWith('.css')));
  assert.ok(paths.some(([, , name]) => name?.endsWith('.ts')));
  const named = new Set(paths.map(([, path]) => path));
  const bodies: string[] = [];
  for (const [, path, name = ''] of paths) {
    const { status, headers, body } = await send(port, { path: `/console/${path}` });
    assert.equal(status, 200);
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.equal(headers['content-security-policy'], policy);
    const isStyle = name.endsWith('.css');
    assert.equal(headers['content-type'], `text/${isStyle ? 'css' : 'javascript'}; charset=utf-8`);
    // Types are replaced by spaces.
    const source = await read(name);
    assert.equal(isStyle, body === source);
    assert.equal(body.length, source.length);
    bodies.push(body);
    for (const [, imported = ''] of body.matchAll(/(?:from |import\()'(\..+?)'/g)) {
      const file = posix.join(posix.dirname(path ?? ''), imported);
      assert.ok(named.has(file), `the page does not name ${file}, which ${name} imports`);
    }
  }
  // Else a browser would keep the files of another version.
  assert.equal(paths[0]?.[1]?.split('/')[0], hash('sha256', bodies.join()).slice(0, 16));
});

test('GET / › sent to a host › has a first request to this host', async () => {
  const { body } = await send(port, { path: '/', headers: { host: 'pets.test:81' } });
  const request = 'curl http://pets.test:81/v1/pets -H "Authorization: Bearer $KEY"';
  assert.deepEqual(body.match(/<code>curl .*/g), [`<code>${request}</code></pre></dd>`]);
});

test('GET /docs/js/ › the script of the docs page › is less than a third, and may be kept by each origin for itself', async () => {
  const page = await send(port, { path: '/docs/' });
  const [, name] = /<script defer src="(js\/scalar-[0-9a-f]+\.js)">/.exec(page.body) ?? [];
  const answer = await fetch(`http://127.0.0.1:${port}/docs/${name}`);
  const script = await answer.text();
  assert.ok(script.includes('createApiReference'));
  const headers: Record<string, string> = Object.fromEntries(answer.headers);
  assert.ok(Number(headers['content-length']) < script.length * 0.31);
  assert.partialDeepStrictEqual(headers, {
    'content-encoding': 'gzip',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'Origin',
    'content-type': 'text/javascript; charset=utf-8',
  });
});

test('GET /docs/recipes › each recipe › is named by the page, and is its file', async () => {
  const page = await send(port, { path: '/docs/' });
  const named = page.body.matchAll(/(?<="recipes\/)[^"]+/g).map(([name]) => name);
  assert.ok(RECIPES.size > 0);
  assert.deepEqual(new Set(named), new Set(RECIPES.keys()));
  for (const name of RECIPES.keys()) {
    const { headers, body } = await send(port, { path: `/docs/recipes/${name}` });
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
    assert.equal(body, await read(`docs/recipes/${name}`));
  }
});
