/** The recipes in TypeScript. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  assertRecipe,
  assertUsage,
  LIMIT_MESSAGE,
  RECIPES,
  testRecipe,
} from '../support/recipe.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

testRecipe('TypeScript without a package', process.execPath, 'fetch.ts');

/** What `petstore-client` is in the checkout. */
const CLIENT = new URL('../../client/petstore-client.ts', import.meta.url).href;

test('recipe in TypeScript with the package › with lost, refused and late answers › adds a pet once, and reads every page exactly', async () => {
  const folder = createProcessFolder();
  const text = await readFile(join(RECIPES, 'package.ts'), 'utf8');
  const main = join(folder, 'package.ts');
  await writeFile(main, text.replace("'petstore-client'", `'${CLIENT}'`));
  await assertRecipe(process.execPath, [main], '', `400 bad_request: ${LIMIT_MESSAGE}`);
  await assertUsage(process.execPath, main);
});
