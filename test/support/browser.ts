/** A real Chromium without a window and without the internet: an installed one, or the one from npm. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Browser,
  type BrowserContextOptions,
  type ConsoleMessage,
  chromium,
  type LaunchOptions,
  type Page,
  type Request,
} from 'playwright-core';

const ARGUMENTS = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-gpu',
  '--disable-quic',
  '--disable-sync',
  '--no-first-run',
  '--host-resolver-rules=MAP shop.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

const VIEWPORT = { width: 1280, height: 720 };

/** Where packages and installers of Linux, macOS and Windows put Chromium and Chrome. */
const INSTALLED = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
];

/** The package with a Chromium for Linux on x64, compressed. */
const PACKAGE = new URL('..', import.meta.resolve('@sparticuz/chromium'));
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));

/** Runs with TMPDIR set: the package unpacks only to the folder for temporary files. */
const UNPACK = `
  import { inflate } from '@sparticuz/chromium';
  await Promise.all(process.argv.slice(1).map((file) => inflate(file)));
`;

/** The file that TEST_CHROMIUM names, or an installed browser, or the one from npm, if it has one. */
function findBrowser(): LaunchOptions | undefined {
  const named = process.env.TEST_CHROMIUM;
  const executablePath = (named ? [named] : INSTALLED).find((path) => existsSync(path));
  if (executablePath !== undefined) return { executablePath };
  if (named) throw new Error(`there is no file ${named}, which TEST_CHROMIUM names`);
  return process.platform === 'linux' && process.arch === 'x64' ? unpackBrowser() : undefined;
}

/** The option `skip` of the tests of pages: the reason, or false if there is a browser. */
export const NO_BROWSER =
  findBrowser() === undefined &&
  'there is no Chromium or Chrome here, and npm has none for this machine: install one, or name it with TEST_CHROMIUM';

/** The first call takes about 3 s. */
function unpackBrowser(): LaunchOptions {
  const { version } = JSON.parse(readFileSync(new URL('package.json', PACKAGE), 'utf8'));
  const folder = join(CACHE, `chromium-${version}`);
  if (!existsSync(folder)) {
    const partial = `${folder}.${process.pid}.partial`;
    mkdirSync(partial, { recursive: true });
    const files = ['chromium.br', 'fonts.tar.br', 'al2023.tar.br'].map((name) =>
      fileURLToPath(new URL(`bin/${name}`, PACKAGE)),
    );
    execFileSync(process.execPath, ['--input-type=module', '--eval', UNPACK, ...files], {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      env: { ...process.env, TMPDIR: partial },
    });
    // The configuration in the package names folders of another system.
    const fonts = `${folder}/fonts`.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    const text = `<fontconfig><dir>${fonts}</dir><cachedir>${fonts}/cache</cachedir></fontconfig>`;
    writeFileSync(join(partial, 'fonts.conf'), `<?xml version="1.0"?>\n${text}\n`);
    // Another process may have been quicker.
    if (existsSync(folder)) rmSync(partial, { recursive: true });
    else renameSync(partial, folder);
  }
  return {
    executablePath: join(folder, 'chromium'),
    env: {
      ...process.env,
      // A minimal system has no NSS and no fonts.
      LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
    },
  };
}

/** Starts it; `await using` stops it. */
export async function launchBrowser(): Promise<Browser> {
  const found = findBrowser();
  if (found === undefined) throw new Error(String(NO_BROWSER));
  return chromium.launch({ ...found, args: ARGUMENTS });
}

export interface WatchedPage extends AsyncDisposable {
  readonly page: Page;
  /** The URL of each request, also if it was refused. */
  readonly requests: readonly string[];
  /** The errors and warnings of the browser, for example violations of the policy. */
  readonly complaints: readonly string[];
  /** Its reports of requests that the API refused, or did not answer. */
  readonly refusals: readonly string[];
}

/** Pages to use again: a new page takes a second of the processor. */
const idle = new WeakMap<Browser, Page[]>();

/** A page with nothing stored, for one test at a time. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const { colorScheme = 'light', viewport, ...others } = options;
  const pages = idle.get(browser) ?? [];
  idle.set(browser, pages);
  // A page cannot lose other options.
  const isUsedAgain = Object.keys(others).length === 0;
  const page = (isUsedAgain && pages.pop()) || (await browser.newPage(others));
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize(viewport ?? VIEWPORT);
  const requests: string[] = [];
  const complaints: string[] = [];
  const refusals: string[] = [];
  const onRequest = (request: Request) => requests.push(request.url());
  const onError = (error: Error) => complaints.push(error.message);
  const onConsole = (message: ConsoleMessage) => {
    if (!['error', 'warning'].includes(message.type())) return;
    const isRefusal = message.location().url.includes('/v1/');
    (isRefusal ? refusals : complaints).push(message.text());
  };
  page.on('request', onRequest).on('pageerror', onError).on('console', onConsole);
  return {
    ...{ page, requests, complaints, refusals },
    async [Symbol.asyncDispose]() {
      if (!isUsedAgain) return page.close();
      page.off('request', onRequest).off('pageerror', onError).off('console', onConsole);
      await empty(page);
      pages.push(page);
    },
  };
}

/** Opens the address as a browser does that blocks site data: its storages throw. */
export async function openWithoutStorage(page: Page, url: string): Promise<void> {
  await page.addInitScript(`for (const name of ['localStorage', 'sessionStorage']) {
    const get = () => { throw new DOMException('Access is denied', 'SecurityError'); };
    Object.defineProperty(window, name, { get });
  }`);
  await page.goto(url);
}

/** Removes what the page has stored and intercepts, and leaves it. */
async function empty(page: Page): Promise<void> {
  await page.evaluate('sessionStorage.clear()');
  const session = await page.context().newCDPSession(page);
  const { origin } = new URL(page.url());
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  await session.detach();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.goto('about:blank');
}
