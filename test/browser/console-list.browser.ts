/** The list of the console, in a real browser: its pages, its address, and the pet that was added or looked up. */

import assert from 'node:assert/strict';
import type { Request, Route } from 'playwright-core';
import { openPage } from '../support/browser.ts';
import {
  addInPage,
  addPet,
  assertAccessible,
  assertFieldMessage,
  enterKey,
  lookUp,
  readColumn,
  readMarked,
} from '../support/console.ts';
import { assertClean, describePages } from '../support/page-tests.ts';
import { type RunningService, startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const PETS = 225;
/** From the first pet on; every fifth is pending. */
const STATUSES = ['pending', 'sold', 'sold', 'sold', 'available'] as const;

async function startWith(count: number): Promise<RunningService> {
  const started = await startService([], { cwd: createProcessFolder() });
  for (let index = 0; index < count; index += 1) {
    await addPet(started, { name: `Pet ${index + 1}`, categoryId: 1, status: STATUSES[index % 5] });
  }
  return started;
}

const start = () => startWith(PETS);
const startEmpty = () => startWith(0);

describePages('console, list', start, (test, stage) => {
  test('console, list › pages of a status, forth and back › show each pet once', async (page, opened) => {
    const nextPage = page.getByRole('button', { name: 'Next page' });
    await page.getByLabel('Pets on a page').selectOption('50');
    await page.getByText('Page 1: 50 pets').waitFor();
    await page.getByLabel('Status').last().selectOption('available');
    const first = await readColumn(page, 'Page 1: 45 pets', 2);
    assert.equal(await nextPage.getAttribute('aria-disabled'), 'true');
    await page.getByLabel('Pets on a page').selectOption('20');
    await page.getByText('Page 1: 20 pets').waitFor();
    // The second click comes before the answer to the first, however quick the service is.
    const { promise: clicked, resolve: letAnswer } = Promise.withResolvers<void>();
    await page.route(/cursor=/, (route) => clicked.then(() => route.continue()));
    await nextPage.dblclick();
    letAnswer();
    const second = await readColumn(page, 'Page 2: 20 pets', 2);
    await nextPage.click();
    const third = await readColumn(page, 'Page 3: 5 pets', 2);
    assert.deepEqual([...first.slice(0, 20), ...second, ...third], first);
    const previousPage = page.getByRole('button', { name: 'Previous page' });
    await previousPage.click();
    assert.deepEqual(await readColumn(page, 'Page 2: 20 pets', 2), second);
    await previousPage.click();
    await page.getByText('Page 1: 20 pets').waitFor();
    assert.equal(await previousPage.getAttribute('aria-disabled'), 'true');
    // There is none before the first one.
    const { length } = opened.requests;
    await previousPage.click({ force: true });
    await nextPage.click();
    await page.getByText('Page 2: 20 pets').waitFor();
    assert.equal(opened.requests.length, length + 1);
    assert.deepEqual(opened.refusals, []);
  });

  for (const [hash, shown] of [
    ['limit=7', 'Page 1: 20 pets'],
    ['limit=100&page=2', 'Page 1: 100 pets'],
    ['limit=100&page=2&cursor=x', 'Page 1: 20 pets'],
    ['limit=7&status=gone&page=2&cursor=x', 'Page 1: 20 pets'],
  ] as const) {
    test(`console, list › opened with #${hash} › shows a page`, {
      path: `/console/#${hash}`,
    }, async (page) => {
      await enterKey(page, stage.service.key);
      await page.getByText(shown).waitFor();
    });
  }

  test('console, list › reloaded, gone back, and opened in another tab › shows the page of its address', async (page) => {
    await page.getByLabel('Pets on a page').selectOption('10');
    await page.waitForURL(/#limit=10$/);
    await page.getByLabel('Status').last().selectOption('sold');
    await until(async () => (await readColumn(page, 'Page 1: 10 pets', 2))[0] === 'Pet 2');
    // The same list again is the same place in the history.
    const listed = page.waitForResponse(/limit=10/);
    await page.getByRole('button', { name: 'List' }).click();
    await listed;
    for (const shown of ['Page 2: 10 pets', 'Page 3: 10 pets']) {
      await page.getByRole('button', { name: 'Next page' }).click();
      await page.getByText(shown).waitFor();
    }
    const third = await readColumn(page, 'Page 3: 10 pets', 2);
    assert.equal(third[0], 'Pet 34');
    await page.reload();
    assert.deepEqual(await readColumn(page, 'Page 3: 10 pets', 2), third);
    assert.equal(await page.getByLabel('Status').last().inputValue(), 'sold');
    await page.goBack();
    const second = await readColumn(page, 'Page 2: 10 pets', 2);
    assert.equal(second[0], 'Pet 18');
    await page.goBack();
    await page.getByText('Page 1: 10 pets').waitFor();
    await page.goBack();
    await until(async () => (await readColumn(page, 'Page 1: 10 pets', 2))[0] === 'Pet 1');
    assert.equal(await page.getByLabel('Status').last().inputValue(), '');
    for (let times = 0; times < 3; times += 1) await page.goForward();
    await page.getByText('Page 3: 10 pets').waitFor();

    await using other = await openPage(stage.browser);
    await other.page.goto(page.url());
    await enterKey(other.page, stage.service.key);
    assert.deepEqual(await readColumn(other.page, 'Page 3: 10 pets', 2), third);
    await other.page.getByRole('button', { name: 'Previous page' }).click();
    assert.deepEqual(await readColumn(other.page, 'Page 2: 10 pets', 2), second);
    // With a number that a person has changed. There are 14 pages.
    await other.page.goto(page.url().replace('page=3', 'page=30'));
    assert.deepEqual(await readColumn(other.page, 'Page 30: 10 pets', 2), third);
    await other.page.getByRole('button', { name: 'Previous page' }).click();
    const last = await readColumn(other.page, 'Page 14: 5 pets', 2);
    await other.page.waitForURL(/page=14&/);
    await other.page.reload();
    assert.deepEqual(await readColumn(other.page, 'Page 14: 5 pets', 2), last);
    assert.ok(!other.page.url().includes(stage.service.key));
    assertClean(other, stage.service.url);
  });

  test('console, list › a pet that is added or looked up › is marked at once, and leads to its page', async (page, opened) => {
    await page.getByLabel('Pets on a page').selectOption('10');
    await page.getByLabel('Status').last().selectOption('sold');
    await until(async () => (await readColumn(page, 'Page 1: 10 pets', 1))[0] === '2');
    await page.getByRole('button', { name: 'Next page' }).click();
    const listed = await readColumn(page, 'Page 2: 10 pets', 1);
    await addInPage(page, '<i>Newest</i>');
    assert.deepEqual(await readMarked(page), [`${PETS + 1}`, '<i>Newest</i>', '3', 'none']);
    assert.deepEqual(await readColumn(page, 'Page 2: 10 pets', 1), [`${PETS + 1}`, ...listed]);
    const { y = 720 } = (await page.locator('tr[aria-current]').boundingBox()) ?? {};
    assert.ok(y < 650, `the pet is shown at ${y}`);
    await page.getByRole('button', { name: 'Go to its page' }).click();
    // The filter would hide it.
    const ids = await readColumn(page, 'Page 23: 6 pets', 1);
    assert.deepEqual(ids, ['221', '222', '223', '224', '225', '226']);
    assert.deepEqual((await readMarked(page))[0], `${PETS + 1}`);
    // The button, which had the focus, is gone.
    assert.equal(await page.evaluate('document.activeElement.ariaCurrent'), 'true');
    // The pages before need not be read again.
    const { length } = opened.requests;
    await addInPage(page, 'Newer');
    await page.getByRole('button', { name: 'Go to its page' }).click();
    await until(async () => (await readColumn(page, 'Page 23: 7 pets', 1))[6] === `${PETS + 2}`);
    assert.ok(opened.requests.length - length <= 4);
    await page.getByRole('button', { name: 'Previous page' }).click();
    assert.equal((await readColumn(page, 'Page 22: 10 pets', 1))[0], '211');
    assert.deepEqual(await readMarked(page), []);

    await lookUp(page, 117);
    await page.getByText('The pet with the id 117').waitFor();
    assert.deepEqual(await readMarked(page), ['117', 'Pet 117', '1', 'sold']);
    await page.setViewportSize({ width: 1280, height: 300 });
    await page.getByRole('button', { name: 'Go to its page' }).click();
    assert.equal((await readColumn(page, 'Page 12: 10 pets', 1))[6], '117');
    const place = await page.locator('tr[aria-current]').boundingBox();
    assert.ok(place !== null && place.y > 0 && place.y < 250, `its place is at ${place?.y}`);
    await page.reload();
    await page.getByText('Page 12: 10 pets').waitFor();
    await page.goBack();
    await page.getByText('Page 22: 10 pets').waitFor();
  });

  test('console, list › an empty store › says what to do next, until it has a pet', {
    start: startEmpty,
  }, async (page) => {
    const empty = page.getByText('There are no pets yet. Add the first one above');
    await empty.waitFor();
    await page.getByText('Page 1: 0 pets').waitFor();
    assert.equal(await page.locator('thead').isVisible(), false);
    const choices = page.locator('[name=status] > [value=""]');
    assert.deepEqual(await choices.allTextContents(), ['none', 'any']);
    const numbers = 'Array.from(document.querySelectorAll("[inputmode=numeric]"), ({ id }) => id)';
    assert.deepEqual(await page.evaluate(numbers), ['new-categoryId', 'id']);
    await assertAccessible(page);
    await page.getByLabel('Status').last().selectOption('sold');
    await page.getByText('No pet matches the filter').waitFor();
    await page.getByLabel('Status').last().selectOption('');
    await empty.waitFor();
    await addInPage(page, 'Rex');
    assert.deepEqual(await readColumn(page, 'Page 1: 1 pet', 2), ['Rex']);
    assert.equal(await empty.isVisible(), false);
    // For the next pet.
    assert.equal(await page.evaluate('document.activeElement.labels[0].textContent'), 'Name');
    // A pet that is looked up is shown above a list without pets, too.
    await page.getByLabel('Status').last().selectOption('sold');
    await page.getByText('No pet matches the filter').waitFor();
    await lookUp(page, 1);
    await page.locator('tr[aria-current]', { hasText: 'Rex' }).waitFor();
  });

  test('console, list › a look-up in vain › leaves the table as it was, and tells why until the next action', async (page) => {
    await page.getByRole('button', { name: 'Next page' }).click();
    const listed = await readColumn(page, 'Page 2: 20 pets', 1);
    for (const [id, message] of [
      ['', /^id must be a whole number/],
      ['1.5', /^id must be a whole number/],
      [`${2n ** 63n}`, /^id must be a whole number up to 9223372036854775807$/],
    ] as const) {
      await lookUp(page, id);
      await assertFieldMessage(page, 'Id', message);
      assert.deepEqual(await readColumn(page, 'Page 2: 20 pets', 1), listed);
    }
    await lookUp(page, '9007199254740993');
    const refusal = page.locator('#find-form', { hasText: 'there is no pet with this petId' });
    await refusal.waitFor();
    assert.deepEqual(await readColumn(page, 'Page 2: 20 pets', 1), listed);
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText('Page 3: 20 pets').waitFor();
    assert.equal(await refusal.count(), 0);
    // It is removed before the page is looked for.
    const json = { id: 0, name: 'Gone', categoryId: 1 };
    await page.route('**/v1/pets/0', (route) => route.fulfill({ json }));
    await lookUp(page, 0);
    await page.getByRole('button', { name: 'Go to its page' }).click();
    await page.getByText('Page 1: 20 pets').waitFor();
    assert.equal(await page.locator('#marked:not(:empty), #go:not([hidden])').count(), 0);
  });

  test('console, list › a look-up or a list that is late › does not take the place of a newer list', async (page) => {
    const selectLimit = (limit: string) => page.getByLabel('Pets on a page').selectOption(limit);
    const held: Route[] = [];
    const ended: Request[] = [];
    const late = /pets\/1$|limit=50/;
    const note = (request: Request) => late.test(request.url()) && ended.push(request);
    page.on('requestfailed', note);
    page.on('requestfinished', note);
    await page.route(late, (route) => held.push(route));
    await lookUp(page, 1);
    await until(() => held.length === 1);
    await selectLimit('50');
    await until(() => held.length === 2);
    await selectLimit('10');
    await page.getByText('Page 1: 10 pets').waitFor();
    // They cannot be answered any more.
    for (const route of held) await route.continue().catch(() => {});
    await until(() => ended.length === 2);
    const failures = ended.map((request) => request.failure()?.errorText);
    assert.deepEqual(failures, ['net::ERR_ABORTED', 'net::ERR_ABORTED']);
    await page.getByText('Page 1: 10 pets').waitFor();
    const messages = await page.locator('.error').allTextContents();
    assert.equal(messages.join(''), '');
  });

  for (const width of [390, 1280]) {
    const view = { viewport: { width, height: 800 } };
    test(`console, list › 20 pets at ${width} px › show the form, the header and the pages without scrolling`, {
      view,
    }, async (page) => {
      await page.getByText('Page 1: 20 pets').waitFor();
      const isInView = async (selector: string) => {
        const { y, height } = (await page.locator(selector).boundingBox()) ?? { y: -1, height: 0 };
        return y >= 0 && y + height <= view.viewport.height;
      };
      for (const selector of ['#add-form button', '#next']) {
        assert.ok(await isInView(selector), selector);
      }
      await page.evaluate('document.querySelector("#pets tr:last-child").scrollIntoView()');
      await until(() => page.evaluate<boolean>('scrollY > 0'));
      for (const selector of ['thead th:first-child', '#next']) {
        assert.ok(await isInView(selector), selector);
      }
      const labels = await page.evaluate<string[]>(
        'Array.from(document.querySelectorAll("td [data-value]"), (label) => label.textContent + getComputedStyle(label).backgroundColor)',
      );
      assert.equal(new Set(labels).size, 3);
      assert.equal(new Set(labels.map((label) => label.replace(/^\w+rgb/, ''))).size, 3);
      for (const cell of ['#pets th', '#pets td:nth-child(3)', 'thead th:nth-child(3)']) {
        const style = await page.evaluate(
          `(({ textAlign, fontVariantNumeric }) => [textAlign, fontVariantNumeric])(getComputedStyle(document.querySelector('${cell}')))`,
        );
        assert.deepEqual(style, ['right', 'tabular-nums'], cell);
      }
    });

    test(`console, list › a name of 255 characters at ${width} px › does not widen the page`, {
      start: startEmpty,
      view,
    }, async (page) => {
      await addInPage(page, 'M'.repeat(255));
      await page.getByText('Page 1: 1 pet').waitFor();
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
    });
  }
});
