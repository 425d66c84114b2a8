/** `npm run generate`: writes the texts that come from the tables of `src/`, and the script of the docs page. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { DOCS_SCRIPT, readDocsScript } from './docs-script.ts';
import { ROOT } from './run.ts';
import { createTexts } from './tables.ts';

for (const [file, text] of createTexts()) writeFileSync(join(ROOT, file), text);

const script = await readDocsScript();
// Another zlib compresses the same script to other bytes.
if (gunzipSync(readFileSync(DOCS_SCRIPT)).toString() !== script) {
  writeFileSync(DOCS_SCRIPT, gzipSync(script, { level: 9 }));
}
