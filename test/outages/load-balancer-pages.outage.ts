/** A page of another origin, in a real browser, before nginx as in deploy/: it can read what nginx itself refuses. */

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { launchBrowser, NO_BROWSER, openPage } from '../support/browser.ts';
import { startService } from '../support/program.ts';
import { listen } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { startBalancer } from './balancer.ts';

/** Sends requests one after the other, and resolves to what the page can read of the last answer. */
const ASK = `async ({ times, url, bytes, key }) => {
  const headers = { authorization: 'Bearer ' + key };
  const body = '{"name":"Rex","categoryId":1}'.padEnd(bytes);
  const method = bytes ? 'POST' : 'GET';
  let answer;
  for (let count = 0; count < times; count += 1) {
    answer = await fetch(url, bytes
      ? { method, body, headers: { ...headers, 'content-type': 'application/json' } }
      : { headers });
    await answer.clone().text();
  }
  const { code } = await answer.json();
  return [answer.status, code, answer.headers.get('Retry-After'), answer.headers.has('X-Request-Id')];
}`;

test('load balancer › a page of another origin › reads each answer, also of nginx', {
  skip: NO_BROWSER,
}, async (t) => {
  await using service = await startService([], { cwd: createProcessFolder() });
  await using roomy = await startBalancer([service.port, service.port]);
  await using narrow = await startBalancer([service.port, service.port], { rate: '1r/m' });
  const pages = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>shop</title>');
  });
  const port = await listen(pages);
  t.after(() => pages.close().closeAllConnections());
  await using browser = await launchBrowser();
  await using opened = await openPage(browser);
  await opened.page.goto(`http://shop.test:${port}/`);
  const ask = (url: string, { times = 1, bytes = 0 } = {}): Promise<unknown> => {
    const asked = JSON.stringify({ url, times, bytes, key: service.key });
    return opened.page.evaluate(`(${ASK})(${asked})`);
  };

  // The service answers these two itself: nginx adds nothing to them, as a second origin is an error.
  assert.deepEqual(await ask(`${roomy.url}/v1/pets`), [200, undefined, null, true]);
  assert.deepEqual(await ask(`${roomy.url}/v1/pets/9`), [404, 'not_found', null, true]);
  const large = await ask(`${roomy.url}/v1/pets`, { bytes: 65_537 });
  assert.deepEqual(large, [413, 'payload_too_large', null, true]);
  const limited = [429, 'rate_limited', '1', true];
  assert.deepEqual(await ask(`${narrow.url}/v1/pets`, { times: 210 }), limited);
  // The browser asks by OPTIONS first, and a refused preflight would be an error.
  assert.deepEqual(await ask(`${narrow.url}/v1/pets/9`), limited);
  await service[Symbol.asyncDispose]();
  assert.deepEqual(await ask(`${roomy.url}/v1/pets`), [503, 'unavailable', '1', true]);
});
