/** The typed client in a real browser, against the real service on another origin. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import { test } from 'node:test';
import { SCENARIOS } from '../client/scenarios/all.ts';
import { launchBrowser, NO_BROWSER, openPage } from '../support/browser.ts';
import { openPlace } from '../support/client-place.ts';
import { listen } from '../support/socket.ts';

const ROOT = new URL('../../', import.meta.url);

/** Runs a scenario in the page; its failure as a text. */
const RUN = `async ({ name, place }) => {
  const client = await import('/client/petstore-client.ts');
  const { SCENARIOS } = await import('/test/client/scenarios/all.ts');
  return SCENARIOS[name]({ ...place, client, runtime: 'browser' }).then(() => 'passed', String);
}`;

test('client › in a browser, from another origin › passes its scenarios', {
  skip: NO_BROWSER,
}, async (t) => {
  await using place = await openPlace();
  const server = createServer(async (request, response) => {
    const isScript = request.url?.endsWith('.ts') === true;
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(
      isScript
        ? stripTypeScriptTypes(await readFile(new URL(`.${request.url}`, ROOT), 'utf8'))
        : '<!doctype html><link rel="icon" href="data:,"><title>shop</title>',
    );
  });
  const port = await listen(server);
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await using browser = await launchBrowser();
  await using opened = await openPage(browser);
  await opened.page.goto(`http://shop.test:${port}/`);
  for (const name of Object.keys(SCENARIOS)) {
    await t.test(name, async () => {
      const argument = JSON.stringify({ name, place });
      assert.equal(await opened.page.evaluate(`(${RUN})(${argument})`), 'passed');
    });
  }
});
