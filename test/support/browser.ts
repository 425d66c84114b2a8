/** A real Chromium without a window and without the internet: an installed one, or the one from npm. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const ARGUMENTS = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-gpu',
  '--disable-quic',
  '--disable-sync',
  '--no-first-run',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

/** Where packages and installers put Chromium and Chrome. */
const INSTALLED: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'],
  darwin: [
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  ],
  win32: [
    'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
  ],
};

/** The package with a Chromium for Linux on x64, compressed. */
const PACKAGE = new URL('..', import.meta.resolve('@sparticuz/chromium'));
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));

/** Run with TMPDIR set, since the package unpacks to the folder for temporary files alone. */
const UNPACK = `
  import { inflate } from '@sparticuz/chromium';
  await Promise.all(process.argv.slice(1).map((file) => inflate(file)));
`;

export interface FoundBrowser {
  readonly executablePath: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * The browser of the tests: the executable that TEST_CHROMIUM names, an installed one, or the
 * one from npm. Undefined when there is none and npm has none for this machine.
 */
export function findBrowser(): FoundBrowser | undefined {
  const named = process.env.TEST_CHROMIUM;
  const candidates = named ? [named] : (INSTALLED[process.platform] ?? []);
  const executablePath = candidates.find(existsSync);
  if (executablePath !== undefined) return { executablePath };
  if (named) throw new Error(`there is no file ${named}, which TEST_CHROMIUM names`);
  return process.platform === 'linux' && process.arch === 'x64' ? unpackBrowser() : undefined;
}

/** Why the tests of pages cannot run; false when they can. For the option `skip` of a test. */
export const NO_BROWSER =
  findBrowser() === undefined &&
  'there is no Chromium or Chrome here, and npm has none for this machine: install one, or name it with TEST_CHROMIUM';

/** Unpacks it at the first call, which takes about 3 s. */
function unpackBrowser(): FoundBrowser {
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
    writeFileSync(join(partial, 'fonts.conf'), toFontConfig(join(folder, 'fonts')));
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

function toFontConfig(folder: string): string {
  const path = folder.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<?xml version="1.0"?>
<fontconfig><dir>${path}</dir><cachedir>${path}/cache</cachedir></fontconfig>
`;
}

/** Starts it; `await using` stops it. */
export async function launchBrowser(): Promise<Browser> {
  const found = findBrowser();
  if (found === undefined) throw new Error(String(NO_BROWSER));
  return chromium.launch({ ...found, args: ARGUMENTS });
}

export interface WatchedPage extends AsyncDisposable {
  readonly page: Page;
  /** The URL of every request so far, refused ones too. */
  readonly requests: readonly string[];
  /** What the browser had to say against the page so far: errors, and violations of its policy. */
  readonly complaints: readonly string[];
}

/** A new page with a storage of its own; `await using` closes it, since a page that is open goes on drawing. */
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
  return { page, requests, complaints, [Symbol.asyncDispose]: () => page.close() };
}
