/** The pages that need no key, in a real browser. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { openPage, openWithoutStorage, type WatchedPage } from '../support/browser.ts';
import { addPet } from '../support/console.ts';
import { assertClean, describePages } from '../support/page-tests.ts';
import { type ServiceTarget, startProxied } from '../support/path-proxy.ts';
import { startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const INT64_MAX = '9223372036854775807';

async function start() {
  const service = await startService([], { cwd: createProcessFolder() });
  await addPet(service, { name: 'Rex', categoryId: 3, status: 'available' });
  return service;
}
const startElsewhere = () =>
  startService(['--base-url', 'https://petstore.test/v1'], { cwd: createProcessFolder() });

describePages('pages without a key', start, (testPage, stage) => {
  testPage(
    'start page › in dark mode, without scripts › is light on dark, and leads to the documentation',
    { path: '/', view: { colorScheme: 'dark', javaScriptEnabled: false } },
    async (page) => {
      assert.equal(await page.title(), 'Petstore');
      const colors = await page.evaluate(
        '(({ color, backgroundColor }) => [color, backgroundColor])(getComputedStyle(document.body))',
      );
      assert.deepEqual(colors, ['rgb(221, 221, 221)', 'rgb(22, 22, 22)']);
      await page.getByRole('link', { name: 'Documentation' }).click();
      await page.waitForURL(`${stage.service.url}/docs/`);
      await page.getByText('Without JavaScript, the OpenAPI document has them.').waitFor();
      await page.locator('#reference').getByRole('link', { name: 'Python' }).click();
      await page.getByText('A client of the petstore in Python').waitFor();
    },
  );

  describe('docs page', () => {
    /** One for all: its script of 4 MB takes seconds of CPU each time that it is loaded. */
    let opened: WatchedPage;
    before(async () => {
      opened = await openPage(stage.browser);
    });
    after(() => opened[Symbol.asyncDispose]());

    test('docs page › read to its end › asks only this service and nothing is amiss', async () => {
      const { page } = opened;
      await page.goto(`${stage.service.url}/docs`);
      for (const name of ['Get a key', 'Handle errors', 'Deprecated']) {
        await page.getByRole('heading', { name }).waitFor();
      }
      for (const name of ['List animals', 'Add an animal', 'Get an animal']) {
        await page.getByRole('link', { name }).first().click();
        await page.getByRole('heading', { name, exact: true }).waitFor();
      }
      // Scalar shows the largest petId as a double.
      assert.equal(await page.getByText('9223372036854776000').count(), 0);
      assert.equal(new URL(page.url()).pathname, '/docs/');
      assertClean(opened, stage.service.url);
    });

    // The second one is what the page has before and after.
    for (const [width, height] of [
      [380, 800],
      [1280, 720],
    ] as const) {
      test(`docs page › a form in a window of ${width} px › has nothing cut or covered`, async () => {
        const { page } = opened;
        await page.setViewportSize({ width, height });
        const client = await openClient(page, stage.service, 'GET', 'List animals');
        const cut = `[...document.querySelectorAll('header, button:has(h2)')].filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).map(({ textContent }) => textContent)`;
        assert.deepEqual(await page.evaluate(cut), []);
        const address = client.getByText(`${stage.service.url}/v1`).first();
        const box = (await address.boundingBox()) ?? { width: 0, height: 0 };
        assert.equal(await page.getByText('Keep the key').isVisible(), false);
        // Fails if something else is there.
        for (const x of [5, box.width / 2, box.width - 5]) {
          await address.click({ trial: true, position: { x, y: box.height / 2 } });
        }
        await close(page);
      });
    }

    test('docs page › a token that is to be kept › is there after a reload, and until it is not to be kept', async () => {
      const { page } = opened;
      const token = page.getByRole('textbox', { name: 'Bearer Token' }).first();
      const keep = page.getByRole('checkbox', { name: 'Keep the key in this browser' });
      await token.fill(stage.service.key);
      assert.equal(await keep.isChecked(), false);
      await keep.check();
      await until(async () =>
        (await page.evaluate<string>('JSON.stringify(localStorage)')).includes(stage.service.key),
      );
      await page.reload();
      await until(async () => (await token.inputValue()) === stage.service.key);
      assert.equal(await keep.isChecked(), true);
      const reloaded = page.waitForEvent('load');
      await keep.uncheck();
      await reloaded;
      assert.equal(await token.inputValue(), '');
      assert.equal(await page.evaluate('localStorage.length'), 0);
      assert.equal(await keep.isChecked(), false);
    });

    test('docs page › operations are tried with a key › show the pet, and the largest int64 exactly', async () => {
      const { page, requests } = opened;
      let client = await openClient(page, stage.service, 'GET', 'List animals');
      await sendForm(client, '200 OK');
      await client.getByText('"Rex"').waitFor();
      await close(page);
      // No optional parameter is sent that the reader has not chosen.
      const listed = requests.filter((url) => url.includes('/v1/'));
      assert.deepEqual(listed, [`${stage.service.url}/v1/pets`]);
      // The key is kept only if the reader wants it.
      assert.equal(await page.evaluate('localStorage.length'), 0);
      assertClean(opened, stage.service.url);
      client = await openClient(page, stage.service, 'POST', 'Add an animal');
      const editor = client.getByRole('region', { name: 'Request Body' }).locator('.cm-content');
      await editor.fill(`{ "name": "Mia", "categoryId": ${INT64_MAX} }`);
      await sendForm(client, '201 Created');
      const answer = client.getByRole('region', { name: 'Response' });
      await answer.locator('.cm-line', { hasText: `"categoryId": ${INT64_MAX}` }).waitFor();
      await close(page);
    });
  });

  testPage(
    'docs page › with site data blocked › tries the service, and cannot keep the key',
    { path: '/', view: { isMobile: false } },
    async (page, { service }) => {
      await openWithoutStorage(page, `${service.url}/docs/`);
      const client = await openClient(page, service, 'GET', 'List animals');
      await sendForm(client, '200 OK');
      await close(page);
      assert.equal(await page.getByLabel('Keep the key in this browser').isEnabled(), false);
    },
  );

  for (const [where, startThere] of [
    ['at another address than --base-url says', startElsewhere],
    ['under a path of a proxy', startProxied],
  ] as const) {
    testPage(
      `docs page › ${where} › is found and tries the service there`,
      { path: '/docs', start: startThere },
      async (page, { service }) => {
        await page.waitForURL(`${service.url}/docs/`);
        await page.getByText(`${service.url}/v1`, { exact: true }).first().waitFor();
        const client = await openClient(page, service, 'GET', 'List animals');
        await sendForm(client, '200 OK');
      },
    );
  }
});

/** Gives the page the key, and opens its form for an operation. */
async function openClient(
  page: Page,
  { url, key }: ServiceTarget,
  method: string,
  title: string,
): Promise<Locator> {
  const client = page.getByRole('dialog');
  const form = client.getByRole('region', { name: `Request: ${title}` });
  await page.goto(`${url}/docs/#tag/animals/${method}/pets`);
  await page.getByRole('textbox', { name: 'Bearer Token' }).first().fill(key);
  const name = new RegExp(`Test Request.*${method} `, 'i');
  await page.getByRole('button', { name }).first().click();
  await form.waitFor();
  return client;
}

/** Closes the form, and a list of suggestions that may be open over it. */
async function close(page: Page): Promise<void> {
  while ((await page.getByRole('dialog').count()) > 0) {
    await page.keyboard.press('Escape');
    await page.waitForTimeout(50);
  }
}

async function sendForm(client: Locator, status: string): Promise<void> {
  await client.getByRole('button', { name: /^Send (get|post) request/ }).click();
  await client.getByRole('link', { name: status }).waitFor();
}
