/** The console in a real browser, against the real program. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Route } from 'playwright-core';
import {
  addInPage,
  addPet,
  assertAccessible,
  assertFieldMessage,
  enterKey,
  listPets,
  lookUp,
  readColumn,
  readMarked,
  submitPet,
  toFile,
  waitForMarked,
} from '../support/console.ts';
import { describePages } from '../support/page-tests.ts';
import { startProxied } from '../support/path-proxy.ts';
import { startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const INT64_MAX = '9223372036854775807';
/** 2 ** 53, up to which a double has every integer. */
const LAST_ID = 9007199254740992n;
/** An answer after which the client does not try again by itself. */
const UNAVAILABLE = {
  status: 503,
  headers: { 'retry-after': '61' },
  json: { code: 'unavailable', message: 'try again later', status: 503 },
};

/** A service whose next pet has an id that no double has. */
async function start() {
  const folder = createProcessFolder();
  const service = await startService([], { cwd: folder });
  using database = new DatabaseSync(join(folder, 'petstore.db'));
  database.exec(`insert into sqlite_sequence values ('pets', ${LAST_ID})`);
  return service;
}

describePages('console', start, (test, stage) => {
  test('start page › in a browser › leads to the console', { path: '/' }, async (page) => {
    await page.getByRole('link', { name: 'Console' }).click();
    await page.getByLabel('API key').waitFor();
    assert.equal(await page.locator('a[href*="v1"]').count(), 0);
    const { headers } = await fetch(page.url());
    const policy = headers.get('content-security-policy') ?? '';
    for (const name of ['connect-src', 'frame-ancestors', 'base-uri', 'form-action']) {
      const value = name === 'connect-src' ? 'self' : 'none';
      assert.ok(policy.includes(`; ${name} '${value}'`), policy);
    }
  });

  test('console › a key that is refused, or is none › is told beside the field and not kept', {
    path: '/console/',
  }, async (page) => {
    assert.equal(await page.evaluate('document.activeElement.id'), 'key');
    for (const [key, message] of [
      ['petstore_stag_…', /^key must be the text that petstore keys create prints$/],
      ['petstore_stag_x', /^key is not accepted: it may be mistyped/],
    ] as const) {
      await enterKey(page, key);
      await assertFieldMessage(page, 'API key', message);
      assert.equal(await page.evaluate('sessionStorage.length'), 0);
    }
    await page.route('**/v1/pets*', (route) => route.fulfill(UNAVAILABLE));
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByText('try again later').waitFor();
    assert.equal(await page.evaluate('sessionStorage.length'), 0);
  });

  test('console › a key that was accepted, and a reload in vain › keeps it, and can forget it', {
    path: '/console/',
  }, async (page) => {
    const forget = page.getByRole('button', { name: 'Forget the key' });
    assert.equal(await page.locator('#work:not([hidden]), #forget:not([hidden])').count(), 0);
    // The second click comes before the answer to the first, however quick the service is.
    const { promise: clicked, resolve: letAnswer } = Promise.withResolvers<void>();
    await page.route('**/v1/pets*', (route) => clicked.then(() => route.continue()));
    await page.getByLabel('API key').fill(` bearer  ${stage.service.key} `);
    await page.getByRole('button', { name: 'Open' }).dblclick();
    letAnswer();
    await page.getByText('Page 1:').waitFor();
    await until(() => page.evaluate<boolean>('document.activeElement.id === "new-name"'));
    assert.equal(await page.getByLabel('API key').isVisible(), false);
    assert.equal(await forget.isVisible(), true);
    assert.equal(await page.evaluate('sessionStorage[sessionStorage.key(0)]'), stage.service.key);
    assert.equal(await page.evaluate('document.querySelector("[type=password]").value'), '');
    await page.route('**/v1/pets*', (route) => route.fulfill(UNAVAILABLE));
    await page.reload();
    await page.getByText('try again later').waitFor();
    assert.equal(await page.evaluate('sessionStorage.length'), 1);
    await forget.click();
    await forget.waitFor({ state: 'hidden' });
    await until(() => page.evaluate<boolean>('document.activeElement.id === "key"'));
    const kept = `[sessionStorage.length, localStorage.length, document.cookie]`;
    assert.deepEqual(await page.evaluate(kept), [0, 0, '']);
  });

  test('console › a pet that is looked up › is shown exactly', async (page) => {
    await addPet(stage.service, { name: '<b>Rex</b>', categoryId: 3 });
    await lookUp(page, ` ${LAST_ID + 1n} `);
    await page.getByText(`The pet with the id ${LAST_ID + 1n}`).waitFor();
    assert.deepEqual(await readMarked(page), [`${LAST_ID + 1n}`, '<b>Rex</b>', '3', 'none']);
  });

  test('console › a pet with wrong fields › is added once each is corrected', async (page) => {
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await assertFieldMessage(page, 'Name', /^name is required; categoryId is required$/);
    await submitPet(page, 'Rex', '1.5');
    await assertFieldMessage(page, 'Category id', /^categoryId must be a whole number from -9223/);
    await submitPet(page, ' ', INT64_MAX);
    await assertFieldMessage(page, 'Name', /^name must be a string of 1 to 255 characters/);
    // The messages before are gone.
    assert.equal(await page.locator('.error:not(:empty)').count(), 1);
    await page.getByLabel('Status').first().selectOption('sold');
    await submitPet(page, '<i>Mia</i>', ` ${INT64_MAX} `);
    await waitForMarked(page, '<i>Mia</i>');
    const [, ...cells] = await readMarked(page);
    assert.deepEqual(cells, ['<i>Mia</i>', INT64_MAX, 'sold']);
    assert.equal(await page.locator('[aria-invalid=true]').count(), 0);
    const json = { code: 'forbidden', message: 'the key is read-only', status: 403 };
    await page.route('**/v1/pets', (route) => route.fulfill({ status: 403, json }));
    await submitPet(page, 'Rex');
    await page.locator('#add-form', { hasText: json.message }).waitFor();
  });

  test('console › what is typed while a pet is added › stays, and is another pet', async (page) => {
    const held: Route[] = [];
    await page.route('**/v1/pets', (route) => held.push(route));
    await submitPet(page, 'Slow');
    await until(() => held.length === 1);
    await page.getByLabel('Name').fill('Next');
    await held[0]?.continue();
    await waitForMarked(page, 'Slow');
    assert.equal(await page.getByLabel('Name').inputValue(), 'Next');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await until(() => held.length === 2);
    await page.getByLabel('Id', { exact: true }).focus();
    await held[1]?.continue();
    await waitForMarked(page, 'Next');
    assert.equal(await page.getByLabel('Name').inputValue(), '');
    assert.equal(await page.evaluate('document.activeElement.id'), 'id');
  });

  test('console › a pet whose answers are lost › is added once when it is sent again', async (page) => {
    await page.route('**/v1/pets', async (route) => {
      await route.fetch();
      await route.abort();
    });
    const before = await listPets(stage.service);
    await submitPet(page, 'Lost');
    await page.getByText('no answer from').waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await waitForMarked(page, 'Lost');
    assert.equal((await listPets(stage.service)).length - before.length, 1);
  });

  test('console › what the service refuses › is told in its form', async (page) => {
    await page.route(/pets[?]|pets.1$/, (route) => route.fulfill(UNAVAILABLE));
    await addInPage(page, 'Rex');
    await page.locator('#list-form', { hasText: 'try again later' }).waitFor();
    await lookUp(page, 1);
    await page.locator('#find-form', { hasText: 'try again later' }).waitFor();
  });

  test('console › behind a proxy that serves it under a path › lists and adds there', {
    start: () => startProxied(false),
  }, async (page) => {
    await addInPage(page, 'Rex');
    assert.deepEqual(await readColumn(page, 'Page 1: 1 pet', 2), ['Rex']);
    assert.deepEqual(
      await page.evaluate('Array.from(document.links, ({ pathname }) => pathname)'),
      ['/petstore/', '/petstore/docs/', '/petstore/docs/'],
    );
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [size, width] of Object.entries({ phone: 320, desktop: 1280 })) {
      test(`console › in ${colorScheme} mode on a ${size} › fits, and axe finds nothing`, {
        path: '/console/',
        view: { colorScheme, viewport: { width, height: 800 }, isMobile: size === 'phone' },
      }, async (page) => {
        await addPet(stage.service, { name: 'Rex', categoryId: 3, status: 'available' });
        await page.getByRole('button', { name: 'Open' }).click();
        await assertFieldMessage(page, 'API key', /^key must be/);
        await assertAccessible(page);
        await enterKey(page, stage.service.key);
        await page.getByText('Page 1:').waitFor();
        await submitPet(page, 'Rex', '1.5');
        await assertFieldMessage(page, 'Category id', /^categoryId/);
        await page.getByLabel('CSV or JSON file').setInputFiles(toFile('name,categoryId\nRex,x\n'));
        await page.getByText('line 2:').waitFor();
        await assertAccessible(page);
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
        const right = (selector: string) =>
          page.evaluate(`document.querySelector('${selector}').getBoundingClientRect().right`);
        assert.equal(await right('table'), await right('main'));
        if (width > 1000) assert.equal(await right('#find-form button'), await right('main'));
        const lines = await page.evaluate(`{
          const range = document.createRange();
          range.selectNodeContents(document.querySelector('td [data-value]'));
          range.getClientRects().length;
        }`);
        assert.equal(lines, 1, 'a status is broken');
      });
    }
  }
});
