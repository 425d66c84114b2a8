/** Tests of pages, which share a service and a browser. They are skipped if there is no browser. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { launchBrowser, NO_BROWSER, openPage, type WatchedPage } from './browser.ts';
import { openConsole } from './console.ts';
import type { ServiceTarget } from './path-proxy.ts';
import type { RunningService } from './program.ts';

/** What the tests share, from the first test on. */
interface Stage {
  service: RunningService;
  browser: Browser;
}

interface PageOptions {
  /** The page to open. Without it, the console is opened with the key. */
  readonly path?: string;
  readonly view?: BrowserContextOptions;
  /** Starts a service for this test. */
  readonly start?: () => Promise<ServiceTarget & AsyncDisposable>;
}

interface Opened extends WatchedPage {
  readonly service: ServiceTarget;
}

type Run = (page: Page, opened: Opened) => Promise<void>;
type AddTest = (title: string, ...rest: [Run] | [PageOptions, Run]) => void;

/** Each test opens a page. At its end the page must be clean. */
export function describePages(
  name: string,
  start: () => Promise<RunningService>,
  define: (addTest: AddTest, stage: Stage) => void,
): void {
  describe(name, { skip: NO_BROWSER }, () => {
    const stage = {} as Stage;
    before(async () => {
      stage.service = await start();
      stage.browser = await launchBrowser();
    });
    after(async () => {
      await stage.browser?.close();
      await stage.service?.[Symbol.asyncDispose]();
    });
    define((title, ...rest) => {
      const run = rest.at(-1) as Run;
      const options = rest.length === 1 ? {} : rest[0];
      test(title, () => runOnPage(stage, options, run));
    }, stage);
  });
}

async function runOnPage({ service: shared, browser }: Stage, options: PageOptions, run: Run) {
  const { path, view, start } = options;
  await using own = await start?.();
  const service = own ?? shared;
  await using opened = await (path === undefined
    ? openConsole(browser, service, view)
    : openPage(browser, view));
  if (path !== undefined) await opened.page.goto(`${service.url}${path}`);
  await run(opened.page, { ...opened, service });
  assertClean(opened, service.url);
  assert.ok(opened.requests.every((url) => !url.includes(service.key)));
}

/** That the page asked only this service, and that the browser reports nothing. */
export function assertClean({ requests, complaints }: WatchedPage, origin: string): void {
  const isOwn = (url: string) => /^(data|blob):/.test(url) || url.startsWith(`${origin}/`);
  assert.deepEqual(
    requests.filter((url) => !isOwn(url)),
    [],
  );
  assert.deepEqual(complaints, []);
}
