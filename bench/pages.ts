/** The time and the CPU time of the pages in a browser that is far away, at the first and the second visit. */

import type { Browser, BrowserContext } from 'playwright-core';
import { launchBrowser } from '../test/support/browser.ts';
import { startService } from '../test/support/program.ts';
import { createProcessFolder } from '../test/support/temporary-folder.ts';

const RUNS = 5;
const MEGABITS_A_SECOND = 4;
const LATENCY_MS = 40;

/** When the first text was drawn. The browser may tell it after the page can be used. */
const FIRST_TEXT = `new Promise((resolve) => {
  const observer = new PerformanceObserver((list) => {
    const [paint] = list.getEntriesByName('first-contentful-paint');
    if (paint !== undefined) resolve(paint.startTime);
  });
  observer.observe({ type: 'paint', buffered: true });
})`;

/** The pages, and the part of each that must be there before the page can be used. */
const PAGES = [
  ['/', 'a[href="docs/"]'],
  ['/docs/', 'a:has-text("List animals")'],
  ['/console/', 'form button:enabled'],
] as const;

const folder = createProcessFolder();
await using service = await startService([], { cwd: folder });
await using browser = await launchBrowser();
process.stdout.write(
  `Seconds at ${MEGABITS_A_SECOND} Mbit/s and ${LATENCY_MS} ms, the median of ${RUNS}:\n\n` +
    '| page | visit | first text | can be used | CPU |\n|---|---|--:|--:|--:|\n',
);
for (const [path, sign] of PAGES) {
  const visits: (readonly Visit[])[] = [];
  for (let run = 0; run < RUNS; run += 1) visits.push(await measure(browser, path, sign));
  for (const [visit, name] of ['first', 'second'].entries()) {
    const figures = (['textSeconds', 'useSeconds', 'cpuSeconds'] as const).map((what) =>
      median(visits.map((both) => both[visit]?.[what] ?? Number.NaN)).toFixed(2),
    );
    process.stdout.write(`| \`${path}\` | ${name} | ${figures.join(' | ')} |\n`);
  }
}

interface Visit {
  readonly textSeconds: number;
  readonly useSeconds: number;
  readonly cpuSeconds: number;
}

/** Two visits of a browser that has no part of the page yet. */
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
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await page.goto(service.url + path, { waitUntil: 'commit' });
  await page.locator(sign).first().waitFor();
  const useMs = await page.evaluate<number>('performance.now()');
  const { metrics } = await session.send('Performance.getMetrics');
  const textMs = await page.evaluate<number>(FIRST_TEXT);
  return {
    textSeconds: textMs / 1_000,
    useSeconds: useMs / 1_000,
    cpuSeconds: metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN,
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
