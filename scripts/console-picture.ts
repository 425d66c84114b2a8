/** Makes docs/console.png, the picture of the console in the README: `npm run node -- scripts/console-picture.ts`. */

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { launchBrowser } from '../test/support/browser.ts';
import { openConsole } from '../test/support/console.ts';
import { MAIN, startService } from '../test/support/program.ts';
import { createProcessFolder } from '../test/support/temporary-folder.ts';

const VIEWPORT = { width: 1080, height: 600 };

const cwd = createProcessFolder();
const petstore = (args: string[], input = '') =>
  execFileSync(process.execPath, [MAIN, ...args], { cwd, input, encoding: 'utf8' });
const pets = petstore(['pets', 'generate', '--count', '40']);
petstore(['pets', 'import', '-', '--format', 'ndjson'], pets);
await using service = await startService([], { cwd });
await using browser = await launchBrowser();
const options = { viewport: VIEWPORT, colorScheme: 'light' } as const;
await using opened = await openConsole(browser, service, options);
const { page } = opened;
await page.evaluate('document.activeElement.blur()');
await page.screenshot({ path: join(import.meta.dirname, '../docs/console.png') });
