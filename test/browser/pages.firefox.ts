/** The pages in a real Firefox, against the real program: what Chromium cannot show. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type FirefoxPage, openFirefox } from '../support/firefox.ts';
import { type RunningService, startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const ENTER = '\uE007';
const ESCAPE = '\uE00C';
const TAB = '\uE004';
const END = '\uE010';
const INT64_MAX = '9223372036854775807';
/** Scalar tries whether it may compile code, and works without. */
const REFUSED_EVAL = /blocked a JavaScript eval/;

describe('pages in Firefox', () => {
  const cwd = createProcessFolder();
  let service: RunningService;
  let page: FirefoxPage;
  before(async () => {
    service = await startService(['--seed', '120'], { cwd });
    page = await openFirefox();
  });
  after(async () => {
    await page?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  test('console › opened by a link with a key › lists, filters, goes back, and opens a pet', async () => {
    await page.goto(`${service.url}/console#key=${service.key}`);
    await page.waitForText('50 pets, and more');
    assert.equal(await page.evaluate('location.hash'), '');
    // The list has the focus.
    await page.type(END);
    await page.waitForText('100 pets, and more');
    await page.type(END);
    await page.waitForText('120 pets');
    await page.click('.chips label:last-child');
    await page.waitForText('24 pets');
    await page.evaluate('history.back()');
    await page.waitForText('50 pets, and more');
    await page.click('tbody tr:nth-child(7) td:last-child');
    await page.waitForText('"id": 7');
    await page.waitForText(`curl '${service.url}/v1/pets/7' -H "Authorization: Bearer $KEY"`);
    await page.click('#pet > .request .copy');
    await page.waitForText('Copied');
    await page.type(ESCAPE);
    await until(async () => (await page.evaluate('document.querySelector("#pet").open')) === false);
  });

  test('console › by the keyboard › adds a pet, exactly, and tells errors at their fields', async () => {
    await page.evaluate('document.querySelector("#open-add").focus()');
    await page.type(ENTER);
    await page.waitForText('Category id');
    await page.type(ENTER);
    await page.waitForText('categoryId is required');
    await page.type(`Mia${TAB}${INT64_MAX}${ENTER}`);
    await page.waitForText('Mia has the id 121.');
    const first = 'document.querySelector("tbody tr").textContent';
    assert.equal(await page.evaluate(first), `121Mia${INT64_MAX}none`);
    await page.type(ESCAPE);
  });

  test('console › a file › is shown, and added', async () => {
    const file = join(cwd, 'pets.csv');
    writeFileSync(file, `name,categoryId\n${'Rex,3\n'.repeat(40)}`);
    await page.click('#open-file');
    await page.setFile('#file', file);
    await page.waitForText('pets.csv has 40 pets.');
    await page.click('#add-all');
    await page.waitForText('40 of 40 added.');
    await page.type(ESCAPE);
    assert.deepEqual(page.complaints, []);
  });

  test('docs page › List animals is tried with a key › shows 200 and the pets', async () => {
    await page.goto(`${service.url}/docs/#tag/animals/GET/pets`);
    await page.waitForText('Handle errors');
    await page.evaluate(`document.querySelector('.scalar-password-input').focus()`);
    await page.type(service.key);
    await page.evaluate(
      `[...document.querySelectorAll('button')].find(({ textContent }) => /Test Request.*get /i.test(textContent)).click()`,
    );
    const send = `[...document.querySelectorAll('[role=dialog] button')].find((button) => button.checkVisibility() && /Send get request/i.test(button.textContent))`;
    await until(async () => (await page.evaluate(`${send} !== undefined`)) === true);
    await page.evaluate(`${send}.click()`);
    await page.waitForText('200 OK');
    await page.waitForText('"Cleo"');
    assert.deepEqual(
      page.complaints.filter((text) => !REFUSED_EVAL.test(text)),
      [],
    );
  });
});
