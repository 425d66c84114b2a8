/** The console by the keyboard alone, in a real browser, against the real program. */

import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { toFile } from '../support/console.ts';
import { describePages } from '../support/page-tests.ts';
import { startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const start = () => startService(['--seed', '60'], { cwd: createProcessFolder() });

/** What has the focus, and whether an outline shows it. The outline of a chip is around its label. */
const READ_FOCUS = `{
  const { activeElement } = document;
  const chip = activeElement.closest('.chips label');
  const { outlineStyle, outlineWidth } = getComputedStyle(chip ?? activeElement);
  const name = activeElement.id || (chip ?? activeElement).textContent;
  [name, outlineStyle === 'solid' && parseFloat(outlineWidth) >= 2];
}`;

/** Waits until this has a visible focus. */
function waitForFocus(page: Page, name: string): Promise<void> {
  return until(async () => String(await page.evaluate(READ_FOCUS)) === `${name},true`);
}

/** Presses a key until this has the focus, which is always visible. */
async function goTo(page: Page, name: string, key = 'Tab'): Promise<void> {
  const passed: string[] = [];
  while (passed.at(-1) !== name) {
    await page.keyboard.press(key);
    const [at, isVisible] = await page.evaluate<[string, boolean]>(READ_FOCUS);
    passed.push(at);
    assert.ok(isVisible && passed.length < 20, `the way to ${name}: ${passed}, ${isVisible}`);
  }
}

describePages('console, keyboard', start, (test, stage) => {
  test('console, keyboard › open, filter, find, add, read a file, close › each works, with a visible focus', {
    path: '/console/',
  }, async (page) => {
    const { keyboard } = page;
    const dialog = page.getByRole('dialog');
    await waitForFocus(page, 'key');
    await keyboard.type(stage.service.key);
    await goTo(page, 'Open');
    await keyboard.press('Enter');
    await waitForFocus(page, 'list');
    await keyboard.press('End');
    await page.getByText('60 pets', { exact: true }).waitFor();
    await goTo(page, 'all', 'Shift+Tab');
    await keyboard.press('ArrowRight');
    await waitForFocus(page, 'available');
    await page.getByText('24 pets', { exact: true }).waitFor();
    await goTo(page, 'id');
    await keyboard.type('7\n');
    await dialog.getByRole('heading', { name: 'Nemo' }).waitFor();
    await waitForFocus(page, 'Close');
    await keyboard.press('Enter');
    await waitForFocus(page, 'id');
    await goTo(page, 'open-add');
    await keyboard.press('Enter');
    await waitForFocus(page, 'new-name');
    await keyboard.type('Rex');
    await goTo(page, 'new-categoryId');
    await keyboard.type('3\n');
    await page.getByText('Rex has the id 61.').waitFor();
    await waitForFocus(page, 'new-name');
    await goTo(page, 'Close', 'Shift+Tab');
    await keyboard.press('Enter');
    await waitForFocus(page, 'open-add');
    await goTo(page, 'open-file', 'Shift+Tab');
    await keyboard.press('Enter');
    await waitForFocus(page, 'file');
    const chosen = page.waitForEvent('filechooser');
    await keyboard.press('Space');
    await (await chosen).setFiles(toFile('name,categoryId\nMia,3\n'));
    await waitForFocus(page, 'add-all');
    await keyboard.press('Enter');
    await page.getByText('1 of 1 added.').waitFor();
    await waitForFocus(page, 'file');
    await keyboard.press('Escape');
    await waitForFocus(page, 'open-file');
    assert.equal(await dialog.count(), 0);
  });
});
