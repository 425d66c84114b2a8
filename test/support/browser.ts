/** A real Chromium without a window and without the internet; nothing of the service is known here. */

import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const ARGUMENTS = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-gpu',
  '--disable-quic',
  '--disable-sync',
  '--no-first-run',
  // Chromium has no sandbox for root, who runs the tests in a container.
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

/** Starts it; `await using` stops it. PETSTORE_TEST_CHROMIUM names another executable. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = process.env.PETSTORE_TEST_CHROMIUM ?? '/usr/bin/chromium';
  if (!existsSync(executablePath)) {
    throw new Error(
      `there is no Chromium at ${executablePath}: install Debian's package chromium (apt-get install chromium), or name another with PETSTORE_TEST_CHROMIUM`,
    );
  }
  return chromium.launch({ executablePath, args: ARGUMENTS });
}

export interface WatchedPage {
  readonly page: Page;
  /** The URL of every request so far, refused ones too. */
  readonly requests: readonly string[];
  /** What the browser had to say against the page so far: errors, and violations of its policy. */
  readonly complaints: readonly string[];
}

/** A new page with a storage of its own. */
export async function openPage(
  browser: Browser,
  options?: BrowserContextOptions,
): Promise<WatchedPage> {
  const page = await browser.newPage(options);
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  return { page, requests, complaints };
}
