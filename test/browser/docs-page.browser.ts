/** The pages that need no key, in a real browser. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { launchBrowser, NO_BROWSER, openPage, type WatchedPage } from '../support/browser.ts';
import { type ServiceTarget, startProxied } from '../support/path-proxy.ts';
import { type RunningService, startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const INT64_MAX = '9223372036854775807';

const folder = createProcessFolder();
let service: RunningService;
let browser: Browser;
const skip = NO_BROWSER;

describe('pages without a key', () => {
  before(async () => {
    if (!skip) browser = await launchBrowser();
    service = await startService([], { cwd: folder });
    await addPet({ name: 'Rex', categoryId: 3, status: 'available' });
  });

  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await browser?.close();
  });

  describe('start page', { skip }, () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      test(`start page › in ${colorScheme} mode and without scripts › leads to the documentation`, async () => {
        await using opened = await openPage(browser, {
          colorScheme,
          javaScriptEnabled: false,
        });
        const { page, complaints } = opened;
        await page.goto(service.url);
        assert.equal(await page.title(), 'Petstore');
        await page.getByRole('link', { name: 'Documentation' }).click();
        await page.waitForURL(`${service.url}/docs/`);
        await page.getByText('Without JavaScript, the OpenAPI document has them.').waitFor();
        await page.locator('#reference').getByRole('link', { name: 'Python' }).click();
        await page.getByText('A client of the petstore in Python').waitFor();
        assert.deepEqual(complaints, []);
      });
    }

    test('start page › in dark mode › is light on dark', async () => {
      await using opened = await openPage(browser, { colorScheme: 'dark' });
      const { page } = opened;
      await page.goto(service.url);
      const colors = await page.evaluate(
        '[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]',
      );
      assert.deepEqual(colors, ['rgb(221, 221, 221)', 'rgb(22, 22, 22)']);
    });
  });

  describe('docs page', { skip }, () => {
    /** One for all: its script of 4 MB takes seconds of CPU each time that it is loaded. */
    let opened: WatchedPage;
    before(async () => {
      opened = await openPage(browser);
    });
    after(() => opened[Symbol.asyncDispose]());

    test('docs page › read to its end › asks only this service and nothing is amiss', async () => {
      const { page, requests, complaints } = opened;
      await page.goto(`${service.url}/docs`);
      for (const name of [
        'Get a key',
        'Write a client',
        'Read every page',
        'Handle errors',
        'Deprecated',
      ]) {
        await page.getByRole('heading', { name }).waitFor();
      }
      for (const name of ['List animals', 'Add an animal', 'Get an animal']) {
        await page.getByRole('link', { name }).first().click();
        await page.getByRole('heading', { name, exact: true }).waitFor();
      }
      // Scalar shows the largest petId as a double.
      assert.equal(await page.getByText('9223372036854776000').count(), 0);
      assert.equal(new URL(page.url()).pathname, '/docs/');
      assertOwn(requests, service.url);
      assert.deepEqual(complaints, []);
    });

    test('docs page › in a window of 380 px › has a bar that fits', async () => {
      const { page } = opened;
      const size = page.viewportSize();
      await page.setViewportSize({ width: 380, height: 800 });
      const bar = "document.querySelector('header')";
      assert.ok(await page.evaluate<boolean>(`${bar}.scrollWidth <= ${bar}.clientWidth`));
      if (size !== null) await page.setViewportSize(size);
    });

    test('docs page › a token that is to be kept › is there after a reload, and until it is not to be kept', async () => {
      const { page } = opened;
      const token = page.getByRole('textbox', { name: 'Bearer Token' }).first();
      const keep = page.getByRole('checkbox', { name: 'Keep the key in this browser' });
      const countStored = () => page.evaluate<number>('localStorage.length');
      await token.fill(service.key);
      assert.equal(await keep.isChecked(), false);
      await keep.check();
      await until(async () =>
        (await page.evaluate<string>('JSON.stringify(localStorage)')).includes(service.key),
      );
      await page.reload();
      await until(async () => (await token.inputValue()) === service.key);
      assert.equal(await keep.isChecked(), true);
      const reloaded = page.waitForEvent('load');
      await keep.uncheck();
      await reloaded;
      assert.equal(await token.inputValue(), '');
      assert.equal(await countStored(), 0);
      assert.equal(await keep.isChecked(), false);
    });

    test('docs page › List animals is tried with a key › shows 200 and the pet', async () => {
      const { page, requests, complaints } = opened;
      const client = await openClient(page, service, 'GET', 'List animals');
      await sendForm(client, '200 OK');
      await client.getByText('"Rex"').waitFor();
      await close(page);
      // No optional parameter is sent that the reader has not chosen.
      const listed = requests.filter((url) => url.includes('/v1/'));
      assert.deepEqual(listed, [`${service.url}/v1/pets`]);
      assertOwn(requests, service.url);
      assert.deepEqual(complaints, []);
    });

    test('docs page › the largest int64 is sent and answered › is not rounded', async () => {
      const { page } = opened;
      const client = await openClient(page, service, 'POST', 'Add an animal');
      const editor = client.getByRole('region', { name: 'Request Body' }).locator('.cm-content');
      await editor.fill(`{ "name": "Mia", "categoryId": ${INT64_MAX} }`);
      await sendForm(client, '201 Created');
      // Until the answer comes, the form shows the one before it, which also is a 201.
      const sent = new RegExp(`"name": "Mia",.*"categoryId": ${INT64_MAX}`);
      await until(async () => sent.test(await readAnswer(client)));
      await close(page);
    });

    test('docs page › a pet is tried without a key › shows 401 and why', async () => {
      const { page } = opened;
      const client = await openClient(page, { url: service.url, key: '' }, 'GET', 'List animals');
      await sendForm(client, '401 Unauthorized');
      assert.match(await readAnswer(client), /"code": "unauthorized"/);
    });
  });

  test('docs page › at another address than --base-url says › tries the service at its own', {
    skip,
  }, async () => {
    const args = ['--base-url', 'https://petstore.test/v1'];
    await using elsewhere = await startService(args, { cwd: createProcessFolder() });
    await using opened = await openPage(browser);
    const { page, requests, complaints } = opened;
    const client = await openClient(page, elsewhere, 'GET', 'List animals');
    await sendForm(client, '200 OK');
    assertOwn(requests, elsewhere.url);
    assert.deepEqual(complaints, []);
  });

  for (const isTold of [false, true]) {
    test(`docs page › behind a proxy that serves it under a path, ${isTold ? 'with' : 'without'} --base-url › is found and tries the service there`, {
      skip,
    }, async () => {
      await using proxied = await startProxied('/petstore', isTold);
      await using opened = await openPage(browser);
      const { page, requests, complaints } = opened;
      await page.goto(`${proxied.url}/docs`);
      await page.waitForURL(`${proxied.url}/docs/`);
      await page.getByText(`${proxied.url}/v1`, { exact: true }).first().waitFor();
      const client = await openClient(page, proxied, 'GET', 'List animals');
      await sendForm(client, '200 OK');
      assert.ok(requests.every((url) => /^(data|blob):/.test(url) || url.startsWith(proxied.url)));
      assert.ok(requests.some((url) => url.startsWith(`${proxied.url}/v1/pets`)));
      assert.deepEqual(complaints, []);
    });
  }
});

/** Gives the page the key, and opens its form for an operation, unless the test before left it open. */
async function openClient(
  page: Page,
  { url, key }: ServiceTarget,
  method: string,
  title: string,
): Promise<Locator> {
  const client = page.getByRole('dialog');
  const form = client.getByRole('region', { name: `Request: ${title}` });
  if (await form.isVisible()) return client;
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

/** The body that the form shows, on one line. */
async function readAnswer(client: Locator): Promise<string> {
  const lines = client.getByRole('region', { name: 'Response' }).locator('.cm-line');
  await lines.last().waitFor();
  return (await lines.allTextContents()).join(' ');
}

function assertOwn(urls: readonly string[], origin: string): void {
  const foreign = urls.filter((url) => !/^(data|blob):/.test(url) && !url.startsWith(`${origin}/`));
  assert.deepEqual(foreign, []);
}

async function addPet(pet: object): Promise<void> {
  const response = await fetch(`${service.url}/v1/pets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(pet),
  });
  assert.equal(response.status, 201);
}
