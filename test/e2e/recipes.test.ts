/** The recipes in TypeScript. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { CLIENT } from '../support/readme.ts';
import { assertRecipe, RECIPES } from '../support/recipe.ts';
import { createFolder } from '../support/temporary-folder.ts';

test('recipe in TypeScript without a package › on a bad day › adds a pet once, and reads every page exactly', () =>
  assertRecipe(process.execPath, ['fetch.ts']));

test('recipe in TypeScript with the package › on a bad day › adds a pet once, and reads every page exactly', async () => {
  await using folder = await createFolder();
  const text = await readFile(join(RECIPES, 'package.ts'), 'utf8');
  const main = join(folder.path, 'package.ts');
  await writeFile(main, text.replace("'petstore/client'", JSON.stringify(CLIENT.href)));
  await assertRecipe(process.execPath, [main], '');
});
