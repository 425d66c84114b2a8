/** The recipes in TypeScript. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { CLIENT } from '../support/readme.ts';
import {
  assertFailures,
  assertRecipe,
  assertUsage,
  LIMIT_MESSAGE,
  RECIPES,
} from '../support/recipe.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

test('recipe in TypeScript without a package › with lost, refused and late answers › adds a pet once, and reads every page exactly', () =>
  assertRecipe(process.execPath, ['fetch.ts']));

test('recipe in TypeScript without a package › an answer of another server, or a next page there › ends it', () =>
  assertFailures(process.execPath, ['fetch.ts']));

test('recipe in TypeScript without a package › without a key or an address › says how it is started', () =>
  assertUsage(process.execPath, ['fetch.ts']));

test('recipe in TypeScript with the package › with lost, refused and late answers › adds a pet once, and reads every page exactly', async () => {
  const folder = createProcessFolder();
  const text = await readFile(join(RECIPES, 'package.ts'), 'utf8');
  const main = join(folder, 'package.ts');
  await writeFile(main, text.replace("'petstore-client'", JSON.stringify(CLIENT.href)));
  await assertRecipe(process.execPath, [main], '', `400 bad_request: ${LIMIT_MESSAGE}`);
  await assertUsage(process.execPath, [main]);
});
