/** The typed client in a real browser, against the real service on another origin. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { stripTypes } from '../../src/http/routes/console.ts';
import { startTestApp } from '../support/app.ts';
import { launchBrowser, NO_BROWSER, openPage } from '../support/browser.ts';
import { listen } from '../support/socket.ts';

const SOURCE = new URL('../../src/', import.meta.url);

/** What the page runs: the answers as texts, since a bigint has no JSON. */
const SCENARIO = `async ({ baseUrl, apiKey }) => {
  const { PetstoreClient, PetstoreClientError } = await import('/client/petstore-client.ts');
  const client = new PetstoreClient({ baseUrl, apiKey });
  const largest = await client.create({ name: 'Rex', categoryId: 9223372036854775807n });
  await client.create({ name: 'Mia', categoryId: 7n, status: 'sold' });
  const names = [];
  for await (const { name } of client.list({ limit: 1 })) names.push(name);
  const error = await client.get(99n).catch((error) => error);
  return [
    String(largest.categoryId),
    String((await client.get(largest.id)).categoryId),
    names.join(),
    String(error instanceof PetstoreClientError),
    error.code,
    String(error.requestId?.length),
  ];
}`;

test('client › in a browser, from another origin › creates, lists all pages and gets exactly', {
  skip: NO_BROWSER,
}, async (t) => {
  await using service = await startTestApp();
  const server = createServer(async (request, response) => {
    const isScript = request.url?.endsWith('.ts') === true;
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(
      isScript
        ? stripTypes(await readFile(new URL(`.${request.url}`, SOURCE), 'utf8'))
        : '<!doctype html><link rel="icon" href="data:,"><title>shop</title>',
    );
  });
  const serverPort = await listen(server);
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await using browser = await launchBrowser();
  await using opened = await openPage(browser);
  const { page, complaints } = opened;
  await page.goto(`http://127.0.0.1:${serverPort}/`);
  const baseUrl = `http://127.0.0.1:${service.port}/v1`;
  const seen = await page.evaluate(
    `(${SCENARIO})(${JSON.stringify({ baseUrl, apiKey: service.key })})`,
  );
  assert.deepEqual(seen, [
    '9223372036854775807',
    '9223372036854775807',
    'Rex,Mia',
    'true',
    'not_found',
    '36',
  ]);
  // The browser tells of the 404 itself.
  assert.deepEqual(
    complaints.filter((text) => !/status of 404/.test(text)),
    [],
  );
});
