/** The list of the console, in a real browser: its filters, its pages, its address, and the pet that is open. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import type { Download, Locator, Page } from 'playwright-core';
import { openPage } from '../support/browser.ts';
import {
  addInPage,
  addPet,
  assertAccessible,
  assertFieldMessage,
  chooseStatus,
  enterKey,
  holdRequests,
  lookUp,
  readColumn,
  readDownload,
  readRequest,
  refuse,
  scrollDown,
  shortenTimers,
} from '../support/console.ts';
import { assertClean, describePages } from '../support/page-tests.ts';
import { MAIN, type RunningService, startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const PETS = 225;
/** From the first pet on; every fifth is pending. */
const STATUSES = ['pending', 'sold', 'sold', 'sold', 'available'] as const;

const createPets = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ name: `Pet ${index + 1}`, categoryId: 1, status: STATUSES[index % 5] },
  }));

/** Starts a service whose store has these pets. */
async function startWith(
  pets: readonly (object | string)[],
  cwd = createProcessFolder(),
): Promise<RunningService> {
  const started = await startService([], { cwd });
  for (const pet of pets) await addPet(started, pet);
  return started;
}

const start = () => startWith(createPets(PETS));
const TOLD = createProcessFolder();
const startTold = () =>
  startWith(
    ['Rex', 'Mia'].map((name) => ({ name, categoryId: 3 })),
    TOLD,
  );
const WIDE = `{"name":"${'M'.repeat(255)}","categoryId":-9223372036854775807,"status":"available"}`;
const ODD_NAMES = ['=1+1', '+1', '-1', '@a', "'=1", '\u0001\ufffe'];
/** Names that are hard to show, each with what is shown for it, and its direction. */
const NAMES = [
  ['مرحبا بالعالم (Rex) 5', undefined, 'rtl'],
  ['ש'.repeat(255), undefined, 'rtl'],
  ['Rex ש', undefined, 'ltr'],
  ['M'.repeat(255), undefined, 'ltr'],
  [`A${'\u0301'.repeat(254)}`, undefined, 'ltr'],
  ['\u200b\u200d', 'U+200B U+200D', 'ltr'],
  ['\u2800'.repeat(255), `${'U+2800 '.repeat(5)}U+280…`, 'ltr'],
] as const;
const startNamed = () =>
  startWith(NAMES.map(([name]) => ({ name, categoryId: 3, status: 'sold' })));
/** That each text is whole within the width of its box, and that the marks above it cannot leave the box. */
async function assertInBoxes(page: Page, selector: string): Promise<void> {
  const boxes = await page.evaluate(`Array.from(document.querySelectorAll('${selector}'), (each) =>
    [each.scrollWidth <= each.clientWidth, getComputedStyle(each).overflow])`);
  const { length } = boxes as unknown[];
  assert.ok(length > 0, selector);
  assert.deepEqual(boxes, Array(length).fill([true, 'clip']));
}

const readTexts = (page: Page, selector: string) =>
  page.evaluate(`Array.from(document.querySelectorAll('${selector}'), (each) =>
    [each.textContent, getComputedStyle(each).direction])`);
/** The lines that each number and label takes, its side and its digits, in the header and the last row. */
const READ_CELLS = `Array.from(document.querySelectorAll('tr:last-child :is(.int64, .label)'), (cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  const lines = new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom / 9)));
  const { textAlign, fontVariantNumeric } = getComputedStyle(cell);
  return [lines.size, textAlign, fontVariantNumeric].join(' ');
})`;
/** The boxes of the open pet that overlap, or that leave the window. */
const READ_OVERLAPS = `{
  const boxes = Array.from(pet.querySelectorAll('h2, .head button, pre, p, footer'), (each) => each.getBoundingClientRect());
  boxes.filter((box, index) => box.left < 0 || box.right > innerWidth || boxes.slice(0, index).some((other) =>
    box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom));
}`;
const READ_COLORS =
  'Array.from(document.querySelectorAll(".label"), (label) => getComputedStyle(label).backgroundColor)';

const range = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1));

describePages('console, list', start, (test, stage) => {
  test('console, list › scrolled to its end › reads each page once, and shows each pet once', async (page, opened) => {
    const { length } = opened.requests;
    for (const shown of ['100 pets, and more', '150 pets, and more', '200 pets, and more']) {
      await scrollDown(page);
      await page.getByText(shown).waitFor();
    }
    // By a key, where the reader has not scrolled.
    await page.getByRole('button', { name: 'Show more' }).press('Enter');
    assert.deepEqual(await readColumn(page, '225 pets', 1), range(PETS));
    assert.equal(await page.getByRole('button', { name: 'Show more' }).isVisible(), false);
    await scrollDown(page);
    assert.equal(opened.requests.length - length, 4);
    assert.deepEqual(opened.refusals, []);
  });

  test('console, list › in a window that is higher than it › shows all pets', {
    view: { viewport: { width: 1280, height: 12_000 } },
  }, async (page) => {
    assert.deepEqual(await readColumn(page, '225 pets', 1), range(PETS));
  });

  test('console, list › a page that fails › says why, and a button tries again', async (page) => {
    await refuse(page, /cursor=/, 'unavailable', 'try again later');
    await scrollDown(page);
    await page.locator('#list-form', { hasText: 'try again later' }).waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText('100 pets, and more').waitFor();
    assert.equal(await page.getByText('try again later').count(), 0);
  });

  test('console, list › a filter, while the next page is read › shows and continues only its own list', async (page) => {
    const ended = page.waitForEvent('requestfailed');
    const held = await holdRequests(page, /limit=50&cursor=/);
    await scrollDown(page);
    await until(() => held.length === 1);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await chooseStatus(page, 'sold');
    // The list of all pets has a pet 2 as well, but not first.
    await page.locator('tbody tr:first-child a', { hasText: /^2$/ }).waitFor();
    await held[0]?.continue().catch(() => {});
    assert.equal((await ended).failure()?.errorText, 'net::ERR_ABORTED');
    await page.unrouteAll();
    for (const shown of ['100 pets, and more', '135 pets']) {
      await scrollDown(page);
      await page.getByText(shown, { exact: true }).waitFor();
    }
    const sold = range(PETS).filter((id) => STATUSES[(Number(id) - 1) % 5] === 'sold');
    assert.deepEqual(await readColumn(page, '135 pets', 1), sold);
    assert.deepEqual(
      asked.map((url) => new URL(url).searchParams.has('cursor')),
      [false, true, true],
    );
  });

  for (const hash of ['limit=7&page=2&cursor=x', 'status=gone', 'pet=x']) {
    test(`console, list › opened with #${hash} › shows all pets, and none is open`, {
      path: `/console/#${hash}`,
    }, async (page) => {
      await enterKey(page, stage.service.key);
      await page.getByText('50 pets, and more', { exact: true }).waitFor();
      assert.equal(await page.getByRole('dialog').count(), 0);
    });
  }

  test('console, list › reloaded, gone back, and opened in another tab › shows what its address says', async (page) => {
    const dialog = page.getByRole('dialog');
    await chooseStatus(page, 'available');
    await page.waitForURL(/#status=available$/);
    await page.getByText('45 pets', { exact: true }).waitFor();
    await page.getByRole('link', { name: '10', exact: true }).click();
    await page.waitForURL(/#status=available&pet=10$/);
    await dialog.getByRole('heading', { name: 'Pet 10' }).waitFor();
    await using other = await openPage(stage.browser);
    await other.page.goto(page.url());
    await enterKey(other.page, stage.service.key);
    await other.page.getByRole('heading', { name: 'Pet 10' }).waitFor();
    await other.page.getByText('45 pets', { exact: true }).waitFor();
    assertClean(other, stage.service.url);

    await page.reload();
    await dialog.getByRole('heading', { name: 'Pet 10' }).waitFor();
    await page.goBack();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByText('45 pets', { exact: true }).waitFor();
    await page.goBack();
    await page.getByText('50 pets, and more').waitFor();
    assert.equal(await page.getByRole('radio', { name: 'all' }).isChecked(), true);
    await page.goForward();
    await page.getByText('45 pets', { exact: true }).waitFor();
    assert.equal(await page.getByRole('radio', { name: 'available' }).isChecked(), true);
    await page.goForward();
    await dialog.getByRole('heading', { name: 'Pet 10' }).waitFor();
    // Closed, it is no part of the address that a person may share.
    await page.keyboard.press('Escape');
    await page.waitForURL(/#status=available$/);
  });

  test('console, list › a row › opens its pet by mouse and by key, with its JSON', async (page) => {
    const row = page.locator('tbody tr').nth(6);
    // A text that is selected can be copied.
    const box = await row.locator('td').first().boundingBox();
    const { x, y, height } = box ?? { x: 0, y: 0, height: 0 };
    await page.mouse.move(x + 1, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + 200, y + height / 2);
    await page.mouse.up();
    assert.equal(await page.evaluate('getSelection().toString().trim()'), 'Pet 7');
    await page.getByRole('heading', { name: 'Pets' }).click();
    await row.locator('td').last().click();
    await page.getByRole('heading', { name: 'Pet 7' }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL(/#$/);
    const link = page.getByRole('link', { name: '7', exact: true });
    // The row that was open has the focus again.
    await link.press('Enter');
    await page.getByText('"id": 7').waitFor();
    // The service may have retired the operation: the list knows the pet.
    await page.keyboard.press('Escape');
    await page.waitForURL(/#$/);
    await refuse(page, '**/v1/pets/7', 'gone', 'this operation was removed');
    await link.press('Enter');
    await page.locator('#pet .request', { hasText: /410 in/ }).waitFor();
    await page.getByText('"id": 7').waitFor();
    assert.equal(await page.locator('#pet [role=alert]').textContent(), '');
    await page.keyboard.press('Escape');
    await refuse(page, '**/v1/pets/400', 'gone', 'this operation was removed');
    await lookUp(page, 400);
    await page
      .getByText('This service finds no pet by its id any more: open pet 400 in the list.')
      .waitFor();
    assert.equal(await page.locator('#pet-json').isVisible(), false);
    await page.keyboard.press('Escape');
    // The pet was removed after the list was read.
    await refuse(page, '**/v1/pets/7', 'not_found', 'there is no pet with this petId');
    await link.press('Enter');
    await page.getByText('There is no pet 7.').waitFor();
    assert.equal(await page.locator('#pet-json').isVisible(), false);
  });

  test('console, list › what the interface has no operation for › is told where it is looked for, with a command that works', {
    start: startTold,
  }, async (page) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    // Each line is copied, and run in a shell as it is.
    const run = async (line: Locator) => {
      await line.getByRole('button').click();
      await line.getByText('Copied').waitFor();
      const command = await page.evaluate<string>('navigator.clipboard.readText()');
      const script = `petstore() { '${process.execPath}' '${MAIN}' "$@"; }\n${command}`;
      return execFileSync('sh', ['-c', script], { cwd: TOLD, encoding: 'utf8', stdio: 'pipe' });
    };
    const line = (words: string) =>
      page.locator('.actions', { hasText: words }).filter({ visible: true });
    await lookUp(page, 'rex');
    assert.equal(await run(line('Search by name')), '{"id":1,"name":"Rex","categoryId":3}\n');
    await lookUp(page, '1');
    assert.match(await run(line('Change it')), /is +1 +Rex +3 +sold/);
    assert.match(await run(line('Remove it')), /1 +Rex +3 +sold/);
    await page.reload();
    await page.getByText('There is no pet 1.').waitFor();
    assert.match(await run(line('List all pets')), /^ *2 +Mia +3 +-\n$/m);
    await page.evaluate('location.hash = "status=pending"');
    assert.equal(await run(line('Count all pets')), '1\n');
  });

  test('console, list › its last request › is shown without the key, and copied', async (page) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await chooseStatus(page, 'sold');
    const { url } = stage.service;
    const line = `curl '${url}/v1/pets?status=sold&limit=50' -H "Authorization: Bearer $KEY"`;
    await until(async () => (await readRequest(page, '#work'))[0] === line);
    await page.locator('.foot .copy').click();
    await page.getByText('Copied').waitFor();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), line);
    await page.locator('.foot .copy', { hasText: /^Copy$/ }).waitFor();
  });

  test('console, list › a filter whose answer is late, and then fails › is waited for with dimmed rows, and tried again', async (page) => {
    const look = () =>
      page.evaluate<unknown[]>(`{
        const isDim = (place) => getComputedStyle(list.querySelector(place)).color === getComputedStyle(document.querySelector('#work .request')).color;
        [list.ariaBusy, isDim('td'), isDim('.label'), getComputedStyle(list.querySelector('td')).transitionDelay];
      }`);
    const answer = page.locator('#work .request span');
    await shortenTimers(page);
    const held = await holdRequests(page, /status=sold/);
    await chooseStatus(page, 'sold');
    await answer.getByText('waiting…', { exact: true }).waitFor();
    await until(async () => String(await look()) === 'true,true,true,0.3s');
    await assertAccessible(page);
    await page.route(/status=sold/, (route) => route.abort());
    await held[0]?.abort();
    const retry = page.getByRole('button', { name: 'Try again' });
    await retry.waitFor();
    await answer.getByText('no answer: see whether the service runs', { exact: true }).waitFor();
    // Its rows are still those of the last filter.
    assert.deepEqual(await look(), ['true', true, true, '0.3s']);
    await page.unrouteAll();
    await retry.press('Enter');
    await page.locator('tbody tr:first-child a', { hasText: /^2$/ }).waitFor();
    await answer.getByText(/^200 in/).waitFor();
    assert.deepEqual(await look(), ['false', false, false, '0s']);
    assert.equal(await retry.isVisible(), false);
  });

  test('console, list › a pet that is added › is the first row at once, and no second one at its end', {
    start: () => startWith(createPets(60)),
  }, async (page) => {
    await addInPage(page, '<i>Newest</i>');
    const first = page.locator('tbody tr').first();
    assert.deepEqual(await first.locator('> *').allTextContents(), [
      ...['61', '<i>Newest</i>', '3', 'none'],
    ]);
    await page.locator('#add .close').click();
    await scrollDown(page);
    const ids = await readColumn(page, '61 pets', 1);
    assert.deepEqual(ids, ['61', ...range(60)]);
    await page.getByRole('link', { name: '61', exact: true }).click();
    await page.getByRole('heading', { name: '<i>Newest</i>' }).waitFor();
  });

  test('console, list › an empty store › says what to do next, until it has a pet', {
    start: () => startWith([]),
  }, async (page) => {
    const empty = page.getByText('There are no pets yet');
    await empty.waitFor();
    await page.getByText('0 pets', { exact: true }).waitFor();
    assert.equal(await page.locator('thead').isVisible(), false);
    await assertAccessible(page);
    assert.equal((await readDownload(page, 'Download CSV')).split('\n').length, 2);
    await chooseStatus(page, 'sold');
    await page.getByText('No pet matches the filter').waitFor();
    assert.equal(await empty.isVisible(), false);
    await chooseStatus(page, 'all');
    await empty.waitFor();
    await addInPage(page, 'Rex');
    assert.equal(await empty.isVisible(), false);
    // For the next pet.
    assert.equal(await page.evaluate('document.activeElement.labels[0].textContent'), 'Name');
  });

  test('console, list › downloaded, each time after a download that failed › is a CSV of all pets of the filter, once', async (page) => {
    const downloads: Download[] = [];
    page.on('download', (download) => downloads.push(download));
    await chooseStatus(page, 'sold');
    await page.locator('tbody tr:first-child a', { hasText: /^2$/ }).waitFor();
    await shortenTimers(page);
    await page.evaluate(`{
      window.made = [];
      window.freed = [];
      const { createObjectURL } = URL;
      URL.createObjectURL = (blob) => made[made.push(createObjectURL(blob)) - 1];
      URL.revokeObjectURL = (url) => freed.push(url);
    }`);
    for (const count of [1, 2]) {
      await refuse(page, /limit=100&cursor=/, 'unavailable', 'try again later');
      await page.getByRole('button', { name: 'Download CSV' }).click();
      await page.getByText('try again later').waitFor();
      await page.getByText('50 pets, and more', { exact: true }).waitFor();
      await page.unrouteAll();
      const rows = (await readDownload(page, 'Download CSV')).split('\n');
      assert.deepEqual(
        [rows[0], rows[1], rows.at(-2), rows.length],
        ["\ufeffid;'name;categoryId;status", "2;'Pet 2;1;sold", "224;'Pet 224;1;sold", 137],
      );
      await page.getByText('135 pets read').waitFor();
      assert.equal(downloads.length, count);
      await until(() => page.evaluate<boolean>(`freed.length === ${count}`));
      assert.deepEqual(await page.evaluate('freed'), await page.evaluate('made'));
    }
  });

  test('console, list › downloaded, with names that are formulas or have controls › is as pets export --excel writes it', {
    start: () => startWith(ODD_NAMES.map((name) => ({ name, categoryId: 7 }))),
  }, async (page) => {
    await page.getByText("for spreadsheets: ' is before each name").waitFor();
    const rows = ODD_NAMES.map((name, index) => `${index + 1};'${name};7;\n`);
    const csv = `\ufeffid;'name;categoryId;status\n${rows.join('')}`;
    assert.equal(await readDownload(page, 'Download CSV'), csv);
  });

  test('console, list › Download clicked again while it reads › reads the list once', async (page) => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const downloaded = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).dblclick();
    await downloaded;
    await page.getByRole('button', { name: 'Download CSV', disabled: false }).waitFor();
    // 225 pets are three pages.
    assert.equal(asked.filter((url) => url.includes('limit=100')).length, 3);
  });

  test('console, list › a look-up in vain › leaves the list as it was, and tells why', async (page) => {
    const listed = await readColumn(page, '50 pets, and more', 1);
    for (const [id, message] of [
      ['', /^id must be a whole number/],
      [`${2n ** 63n}`, /^id must be a whole number up to 9223372036854775807$/],
    ] as const) {
      await lookUp(page, id);
      await assertFieldMessage(page, 'Id', message);
    }
    await lookUp(page, '9007199254740993');
    await page.getByText('There is no pet 9007199254740993.', { exact: true }).waitFor();
    assert.equal(await page.locator('#pet-json').isVisible(), false);
    await page.keyboard.press('Escape');
    assert.deepEqual(await readColumn(page, '50 pets, and more', 1), listed);
    assert.equal(await page.locator('#find-form .error:not(:empty)').count(), 0);
  });

  for (const [what, hash, shown] of [
    ['another one is opened', '#pet=2', 2],
    ['its panel is closed', '#', undefined],
  ] as const) {
    test(`console, list › a pet whose answer is late, twice › is read no more once ${what}`, async (page) => {
      const held = await holdRequests(page, '**/v1/pets/1');
      const open = (to: string) => page.evaluate(`location.hash = '${to}'`);
      for (const count of [1, 2]) {
        await open('#pet=1');
        await until(() => held.length === count);
        const ended = page.waitForEvent('requestfailed');
        await open(hash);
        assert.equal((await ended).failure()?.errorText, 'net::ERR_ABORTED');
        await held[count - 1]?.continue().catch(() => {});
        await assertOpenPet(page, shown);
      }
      await page.unrouteAll();
      await open('#pet=1');
      await assertOpenPet(page, 1);
    });
  }

  for (const width of [390, 1280]) {
    const view = { viewport: { width, height: 800 } };
    test(`console, list › a wide pet at ${width} px › widens no page, breaks no number, and moves no action out of view`, {
      ...{ start: () => startWith([...createPets(60), WIDE]), view },
    }, async (page) => {
      await scrollDown(page);
      await page.getByText('61 pets', { exact: true }).waitFor();
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
      for (const selector of ['#open-add', 'thead th:first-child', '.foot code', '.foot span']) {
        const { y, height } = (await page.locator(selector).boundingBox()) ?? { y: -1, height: 0 };
        assert.ok(y >= 0 && y + height <= view.viewport.height, selector);
      }
      const number = '1 right tabular-nums';
      const cells = [number, number, number, number, '1 left normal'];
      assert.deepEqual(await page.evaluate(READ_CELLS), cells);
      assert.equal(new Set(await page.evaluate<string[]>(READ_COLORS)).size, 3);
    });

    test(`console, list › names of any script, without end, or that look empty, at ${width} px › are whole, and overlap nothing`, {
      ...{ start: startNamed, view: { viewport: { width, height: 3_000 } } },
    }, async (page) => {
      const shown = NAMES.map(([name, text = name, direction]) => [text, direction]);
      assert.deepEqual(await readTexts(page, 'td.text'), shown);
      await assertInBoxes(page, 'td.text');
      for (const [index, text] of shown.entries()) {
        await page.evaluate(`location.hash = 'pet=${index + 1}'`);
        await assertOpenPet(page, index + 1);
        assert.deepEqual(await readTexts(page, '#pet-title'), [text]);
        assert.deepEqual(await page.evaluate(READ_OVERLAPS), []);
        // The JSON has all of the name.
        await assertInBoxes(page, '#pet :is(h2, pre)');
      }
    });
  }
});

/** That the panel shows this pet, as it was read last; or that it is closed. */
async function assertOpenPet(page: Page, id: number | undefined): Promise<void> {
  const panel = page.locator('#pet');
  if (id === undefined) return panel.waitFor({ state: 'hidden' });
  await panel.getByText(`/v1/pets/${id}'`).waitFor();
  await panel.getByText(/^200 in/).waitFor();
  const json = await panel.locator('#pet-json').textContent();
  assert.equal(JSON.parse(json ?? '').id, id);
}
