/** How long the pages take in a browser that is far away: the first text, and until the page can be used, at the first and the second visit. */

import type { Browser, BrowserContext } from 'playwright-core';
import { launchBrowser } from '../test/support/browser.ts';
import { startService } from '../test/support/program.ts';
import { createFolder } from '../test/support/temporary-folder.ts';

const RUNS = 5;
const MEGABITS_A_SECOND = 4;
const LATENCY_MS = 40;

/** The pages, and what of each must be there before it can be used. */
const PAGES = [
  ['/', 'a[href="docs/"]'],
  ['/docs/', 'a:has-text("List animals")'],
] as const;

await using folder = await createFolder();
await using service = await startService([], { cwd: folder.path });
await using browser = await launchBrowser();
process.stdout.write(
  `Seconds at ${MEGABITS_A_SECOND} Mbit/s and ${LATENCY_MS} ms, the median of ${RUNS}:\n\n` +
    '| page | visit | first text | can be used |\n|---|---|---|---|\n',
);
for (const [path, sign] of PAGES) {
  const visits: (readonly Visit[])[] = [];
  for (let run = 0; run < RUNS; run += 1) visits.push(await measure(browser, path, sign));
  for (const [visit, name] of ['first', 'second'].entries()) {
    const [text, use] = (['textMs', 'useMs'] as const).map((what) =>
      (median(visits.map((both) => both[visit]?.[what] ?? Number.NaN)) / 1_000).toFixed(2),
    );
    process.stdout.write(`| \`${path}\` | ${name} | ${text} | ${use} |\n`);
  }
}

interface Visit {
  readonly textMs: number;
  readonly useMs: number;
}

/** Two visits of a browser that has nothing of the page yet. */
async function measure(browser: Browser, path: string, sign: string): Promise<readonly Visit[]> {
  await using context = await browser.newContext();
  return [await visit(context, path, sign), await visit(context, path, sign)];
}

async function visit(context: BrowserContext, path: string, sign: string): Promise<Visit> {
  await using page = await context.newPage();
  const session = await context.newCDPSession(page);
  const bytesPerSecond = (MEGABITS_A_SECOND * 1e6) / 8;
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: LATENCY_MS,
    downloadThroughput: bytesPerSecond,
    uploadThroughput: bytesPerSecond,
  });
  await page.goto(service.url + path, { waitUntil: 'commit' });
  await page.locator(sign).first().waitFor();
  const [useMs, textMs] = await page.evaluate<[number, number]>(
    "[performance.now(), performance.getEntriesByName('first-contentful-paint')[0]?.startTime]",
  );
  return { textMs, useMs };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
