/** What is made of the tables of `src/` is committed as it is made. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { DOCS_SCRIPT, readDocsScript } from '../docs-script.ts';
import { ROOT } from '../run.ts';
import { createTexts } from '../tables.ts';

for (const [file, text] of createTexts()) {
  test(`${file} › the committed one › is the generated one; npm run generate writes it`, () => {
    const committed = readFileSync(join(ROOT, file), 'utf8');
    assert.equal(committed, text);
  });
}

test('script of the docs page › the committed one › is that of the installed package', async () => {
  assert.ok(gunzipSync(readFileSync(DOCS_SCRIPT)).toString() === (await readDocsScript()));
});
