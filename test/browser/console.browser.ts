/** The console in a real browser, against the real program. */

import assert from 'node:assert/strict';
import { openWithoutStorage } from '../support/browser.ts';
import {
  addInPage,
  addPet,
  assertAccessible,
  assertFieldMessage,
  enterKey,
  holdRequests,
  listPets,
  lookUp,
  readColumn,
  readRequest,
  refuse,
  submitPet,
  toFile,
  waitForList,
} from '../support/console.ts';
import { runCurl } from '../support/curl.ts';
import { describePages } from '../support/page-tests.ts';
import { startProxied } from '../support/path-proxy.ts';
import { startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const INT64_MAX = '9223372036854775807';
const start = () => startService([], { cwd: createProcessFolder() });

describePages('console', start, (test, stage) => {
  test('console › opened from the start page, with a key that is refused, or is none › tells it beside the field and keeps none', {
    path: '/',
  }, async (page) => {
    await page.getByRole('link', { name: 'Console' }).click();
    await page.getByLabel('API key').waitFor();
    assert.equal(await page.locator('a[href*="v1"]').count(), 0);
    const { headers } = await fetch(page.url());
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(policy, /; connect-src 'self'; .*base-uri 'none'; form-action 'none'$/);
    await until(() => page.evaluate<boolean>('document.activeElement.id === "key"'));
    for (const [key, message] of [
      ['petstore_stag_…', /^key must be the text that petstore keys create prints$/],
      ['petstore_stag_x', /^key is not accepted: it may be mistyped/],
    ] as const) {
      await enterKey(page, key);
      await assertFieldMessage(page, 'API key', message);
      assert.equal(await page.evaluate('sessionStorage.length'), 0);
    }
  });

  test('console › a key that was accepted, and a reload in vain › keeps it, and can forget it', {
    path: '/console/',
  }, async (page) => {
    const forget = page.getByRole('button', { name: 'Forget the key' });
    assert.equal(await page.locator('#work, #forget').filter({ visible: true }).count(), 0);
    // The second click comes before the answer to the first, however quick the service is.
    const { promise: clicked, resolve: letAnswer } = Promise.withResolvers<void>();
    await page.route('**/v1/pets*', (route) => clicked.then(() => route.continue()));
    await page.getByLabel('API key').fill(` bearer  ${stage.service.key} `);
    await page.getByRole('button', { name: 'Open' }).dblclick();
    letAnswer();
    await waitForList(page);
    // So that keys scroll the list.
    await until(() => page.evaluate<boolean>('document.activeElement.id === "list"'));
    assert.equal(await page.getByLabel('API key').isVisible(), false);
    assert.equal(await page.evaluate('sessionStorage[sessionStorage.key(0)]'), stage.service.key);
    assert.equal(await page.evaluate('document.querySelector("[type=password]").value'), '');
    await refuse(page, '**/v1/pets*', 'unavailable', 'try again later');
    await page.reload();
    await page.getByText('try again later').waitFor();
    assert.equal(await page.evaluate('sessionStorage.length'), 1);
    await forget.click();
    await forget.waitFor({ state: 'hidden' });
    await until(() => page.evaluate<boolean>('document.activeElement.id === "key"'));
    const kept = `[sessionStorage.length, localStorage.length, document.cookie]`;
    assert.deepEqual(await page.evaluate(kept), [0, 0, '']);
  });

  test('console › a link with a key › opens the list, and leaves no key in the address and the history', {
    path: '/',
  }, async (page) => {
    const { url, key } = stage.service;
    await page.goto(`${url}/console#key=${key}&status=sold`);
    await waitForList(page);
    assert.equal(page.url(), `${url}/console/#status=sold`);
    assert.equal(await page.getByRole('radio', { name: 'sold' }).isChecked(), true);
    assert.equal(await page.evaluate('sessionStorage[sessionStorage.key(0)]'), key);
    await page.reload();
    await waitForList(page);
    await page.goBack();
    await page.waitForURL(`${url}/`);
    await page.goForward();
    await page.waitForURL(`${url}/console/#status=sold`);
    // A link that is pasted into the open page.
    for (const [wrong, count] of [
      ['petstore_stag_x', 0],
      // It is no key, so the last one stays.
      ['a b', 1],
    ] as const) {
      await page.evaluate(`location.hash = 'key=${wrong}'`);
      await page.locator('#key-error', { hasText: 'key ' }).waitFor();
      assert.deepEqual(await page.evaluate('[location.hash, sessionStorage.length]'), ['', count]);
      await page.evaluate(`location.hash = 'key=${key}'`);
      await page.getByRole('heading', { name: 'Pets', exact: true }).waitFor();
      assert.equal(await page.evaluate('location.hash'), '');
    }
  });

  test('console › with site data blocked › tells beside the key why it cannot be kept', {
    path: '/',
    view: { isMobile: false },
  }, async (page) => {
    const { url, key } = stage.service;
    await openWithoutStorage(page, `${url}/console/`);
    await enterKey(page, key);
    const told =
      /^key cannot be kept: the browser blocks site data of this page\. Allow it, then load the page again$/;
    await assertFieldMessage(page, 'API key', told);
  });

  test('console › a pet beyond 2^53 › is shown exactly, and not as HTML', async (page) => {
    const id = '9007199254740993';
    const body = `{"id":${id},"name":"<b>Rex</b>","categoryId":${INT64_MAX}}`;
    await page.route(`**/v1/pets/${id}`, (route) => route.fulfill({ body }));
    await lookUp(page, ` ${id} `);
    await page.getByRole('heading', { name: '<b>Rex</b>' }).waitFor();
    const json = `{\n  "id": ${id},\n  "name": "<b>Rex</b>",\n  "categoryId": ${INT64_MAX}\n}`;
    assert.equal(await page.locator('#pet-json').textContent(), json);
  });

  test('console › a pet with wrong fields › is told at each field, and added once each is corrected', async (page) => {
    const added = page.locator('#added');
    await page.getByRole('button', { name: 'Add a pet' }).click();
    // By the keyboard: the first field has the focus.
    await page.keyboard.press('Enter');
    await assertFieldMessage(page, 'Name', /^name is required$/);
    await assertFieldMessage(page, 'Category id', /^categoryId is required$/);
    assert.equal(await page.evaluate('document.activeElement.id'), 'new-name');
    await submitPet(page, 'Rex', '1.5');
    await assertFieldMessage(page, 'Category id', /^categoryId must be a whole number from -9223/);
    assert.equal(await page.evaluate('document.activeElement.id'), 'new-categoryId');
    // The messages before are gone.
    assert.equal(await page.locator('.error:not(:empty)').count(), 1);
    await page.getByLabel('Status').last().selectOption('sold');
    await submitPet(page, "<i>O'Mia</i>", ` ${INT64_MAX} `);
    await added.getByText("<i>O'Mia</i> has the id ").waitFor();
    const [id, ...cells] = await page.locator('tbody tr').first().locator('> *').allTextContents();
    assert.deepEqual(cells, ["<i>O'Mia</i>", INT64_MAX, 'sold']);
    assert.equal(await page.locator('[aria-invalid=true]').count(), 0);
    // The line of curl sends the same request: the service answers with the same pet.
    const [line = '', answer = ''] = await readRequest(page, '#add');
    assert.match(answer, /^201 in \d+ ms, X-Request-Id \S+$/);
    const replayed = await runCurl(line, { KEY: stage.service.key });
    const pet = `{"id":${id},"name":"<i>O'Mia</i>","categoryId":${INT64_MAX},"status":"sold"}`;
    assert.deepEqual(replayed, { status: 201, body: pet });
    await refuse(page, '**/v1/pets', 'forbidden', 'the key is read-only');
    await submitPet(page, 'Rex');
    await page.locator('#add-form', { hasText: 'the key is read-only' }).waitFor();
    assert.equal(await added.textContent(), '');
  });

  test('console › what is typed while a pet is added › stays, and is another pet', async (page) => {
    const held = await holdRequests(page, '**/v1/pets');
    await submitPet(page, 'Slow');
    await until(() => held.length === 1);
    await page.getByLabel('Name').fill('Next');
    await held[0]?.continue();
    await page.getByText('Slow has the id ').waitFor();
    assert.equal(await page.getByLabel('Name').inputValue(), 'Next');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await until(() => held.length === 2);
    await held[1]?.continue();
    await page.getByText('Next has the id ').waitFor();
    assert.equal(await page.getByLabel('Name').inputValue(), '');
  });

  test('console › a key that is revoked while a pet is typed › leaves the pet as it was typed', async (page) => {
    await refuse(page, '**/v1/pets', 'unauthorized', 'the API key is not known');
    await submitPet(page, 'Typed', '7');
    await assertFieldMessage(page, 'API key', /^key is not accepted/);
    await page.unrouteAll();
    await enterKey(page, stage.service.key);
    const dialog = page.getByRole('dialog', { name: 'Add a pet' });
    assert.equal(await dialog.getByLabel('Category id').inputValue(), '7');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Typed has the id ').waitFor();
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
    await page.getByText('Lost has the id ').waitFor();
    assert.equal((await listPets(stage.service)).length - before.length, 1);
  });

  test('console › behind a proxy that serves it under a path › lists and adds there', {
    start: startProxied,
  }, async (page) => {
    await addInPage(page, 'Rex');
    await page.reload();
    assert.deepEqual(await readColumn(page, '1 pet', 2), ['Rex']);
    assert.deepEqual(
      await page.evaluate('Array.from(document.querySelectorAll("header a"), (a) => a.pathname)'),
      ['/petstore/', '/petstore/console/', '/petstore/docs/'],
    );
  });
});

// A store of its own: axe cannot decide on what a long name moves out of view.
describePages('console, looks', start, (test, stage) => {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [size, width] of Object.entries({ small: 320, phone: 390, desktop: 1280 })) {
      test(`console › in ${colorScheme} mode on a ${size} screen › fits, and axe finds nothing`, {
        path: '/console/',
        view: { colorScheme, viewport: { width, height: 800 }, isMobile: width < 1000 },
      }, async (page) => {
        const check = async () => {
          await assertAccessible(page);
          assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
        };
        await addPet(stage.service, { name: 'Rex', categoryId: 3, status: 'available' });
        await page.getByRole('button', { name: 'Open' }).click();
        await assertFieldMessage(page, 'API key', /^key must be/);
        await check();
        await enterKey(page, stage.service.key);
        await waitForList(page);
        await lookUp(page, '1.5');
        await assertFieldMessage(page, 'Id', /^id must/);
        await check();
        await submitPet(page, 'Rex', '1.5');
        await assertFieldMessage(page, 'Category id', /^categoryId/);
        await check();
        await submitPet(page, 'Rex');
        await page.getByText('Rex has the id ').waitFor();
        await check();
        await page.keyboard.press('Escape');
        await page.locator('tbody a').first().click();
        await page.locator('#pet .request').waitFor();
        await check();
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: 'Add from a file' }).click();
        const file = page.getByLabel('CSV or JSON file');
        await file.setInputFiles(toFile('name,categoryId\nRex,x\n'));
        await page.getByText('line 2:').waitFor();
        await check();
        for (const [name, warning] of [
          ['Rex', 'The store already has'],
          ['Mia', 'The command line takes seconds'],
        ] as const) {
          await file.setInputFiles(toFile(`name,categoryId\n${`${name},3\n`.repeat(2_001)}`));
          await page.getByText(warning).waitFor();
          await check();
        }
      });
    }
  }
});
