/** What the tests of the console do with its page. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page, Route } from 'playwright-core';
import { openPage, type WatchedPage } from './browser.ts';
import type { ServiceTarget } from './path-proxy.ts';
import { type Code, STATUS_OF } from './request.ts';

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** The console with the key, when it shows the list. */
export async function openConsole(
  browser: Browser,
  { url, key }: ServiceTarget,
  options?: BrowserContextOptions,
): Promise<WatchedPage> {
  const opened = await openPage(browser, options);
  await opened.page.goto(`${url}/console#key=${key}`);
  await waitForList(opened.page);
  return opened;
}

export const waitForList = (page: Page) => page.locator('#shown:not(:empty)').waitFor();

/** Holds back the requests to an address. */
export async function holdRequests(page: Page, url: string | RegExp): Promise<Route[]> {
  const held: Route[] = [];
  await page.route(url, (route) => held.push(route));
  return held;
}

/** Answers the requests to an address with an error. The client does not try again by itself. */
export function refuse(page: Page, url: string | RegExp, code: Code, message: string) {
  const status = STATUS_OF[code];
  const answer = { status, headers: { 'retry-after': '61' }, json: { code, message, status } };
  return page.route(url, (route) => route.fulfill(answer));
}

/** Makes the timers of the page ten times as fast. */
export function shortenTimers(page: Page): Promise<void> {
  return page.evaluate(`{
    const { setTimeout } = window;
    window.setTimeout = (act, ms) => setTimeout(act, ms / 10);
  }`);
}

/** Whether the page would warn a person who leaves it. */
export function isWarning(page: Page): Promise<boolean> {
  return page.evaluate('!dispatchEvent(new Event("beforeunload", { cancelable: true }))');
}

export async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Open' }).click();
}

/** That the message is beside the field, also for a screen reader, and the field has the focus. */
export async function assertFieldMessage(
  page: Page,
  label: string,
  message: RegExp,
): Promise<void> {
  await page.locator('.field .error', { hasText: message }).waitFor();
  const field = page.getByLabel(label, { exact: true }).last();
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  const place = page.locator(`[id="${await field.getAttribute('aria-describedby')}"]`);
  assert.match((await place.textContent()) ?? '', message);
}

/** The cells of a column, when the page says how many pets it shows. */
export async function readColumn(page: Page, shown: string, column: number): Promise<string[]> {
  await page.getByText(shown, { exact: true }).waitFor();
  return page.locator(`tbody tr > :nth-child(${column})`).allTextContents();
}

export function chooseStatus(page: Page, status: string): Promise<void> {
  return page.locator('.chips').getByText(status, { exact: true }).click();
}

/** Comes to the end of the list as a person does. */
export function scrollDown(page: Page): Promise<void> {
  return page.evaluate('document.getElementById("list").scrollTop = 1e6');
}

export async function submitPet(page: Page, name: string, categoryId = '3'): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Add a pet' });
  if (!(await dialog.isVisible())) await page.getByRole('button', { name: 'Add a pet' }).click();
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByLabel('Category id').fill(categoryId);
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
}

export async function addInPage(page: Page, name: string): Promise<void> {
  await submitPet(page, name);
  await page.getByText(`${name} has the id `).waitFor();
}

export async function lookUp(page: Page, id: unknown): Promise<void> {
  await page.getByLabel('Id', { exact: true }).fill(String(id));
  await page.keyboard.press('Enter');
}

/** The request that a place of the page shows, and how it was answered. */
export async function readRequest(page: Page, place: string): Promise<string[]> {
  const footer = page.locator(`${place} .request`);
  await footer.waitFor();
  return footer.locator('code, span').allTextContents();
}

/** The content of the file that a button lets the browser keep. */
export async function readDownload(page: Page, button: string): Promise<string> {
  const started = page.waitForEvent('download');
  await page.getByRole('button', { name: button }).first().click();
  return readFileSync(await (await started).path(), 'utf8');
}

/** That axe finds nothing, not even what it cannot decide. */
export async function assertAccessible(page: Page): Promise<void> {
  const size = page.viewportSize() ?? { width: 1280, height: 720 };
  // All of the page is in view then. A dialog covers the page, and makes it inert.
  await page.setViewportSize({ ...size, height: 4_000 });
  await page.evaluate(AXE);
  const findings = await page.evaluate(
    'axe.run(document.querySelector("dialog[open]") ?? document).then(({ violations, incomplete }) => [...violations, ...incomplete].map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))',
  );
  assert.deepEqual(findings, []);
  await page.setViewportSize(size);
}

/** @param pet its JSON where a number is too large for a double. */
export async function addPet({ url, key }: ServiceTarget, pet: object | string): Promise<void> {
  const response = await fetch(`${url}/v1/pets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: typeof pet === 'string' ? pet : JSON.stringify(pet),
  });
  assert.equal(response.status, 201);
}

/** A CSV file, as a file field takes it. */
export function toFile(text: string | Buffer) {
  return { name: 'pets.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
}

/** The pets of the service, as it answers them. */
export async function listPets({ url, key }: ServiceTarget): Promise<string[]> {
  const headers = { authorization: `Bearer ${key}` };
  const pets: string[] = [];
  let next: string | undefined = `${url}/v1/pets?limit=100`;
  while (next !== undefined) {
    const response = await fetch(new URL(next, url), { headers });
    // Split and not parsed, which would round.
    pets.push(...((await response.text()).match(/\{[^}]+\}/g) ?? []));
    next = /<([^<>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  }
  return pets;
}
