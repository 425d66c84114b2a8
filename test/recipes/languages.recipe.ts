/** The recipes of each language. curl and Python are not brought by npm. */

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  assertRecipe,
  assertUsage,
  LIMIT_MESSAGE,
  RECIPES,
  runRecipe,
  testRecipe,
  testRefusals,
} from '../support/recipe.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

/** What `petstore-client` is in the checkout. */
const CLIENT = new URL('../../client/petstore-client.ts', import.meta.url).href;

test('recipe in curl › with lost, refused and late answers › adds a pet once, and prints every page and why it was refused', async () => {
  const { stdout, stderr, names } = await runRecipe('bash', ['curl.sh']);
  const added = `{"id":${names.length},"name":"Rex","categoryId":9223372036854775807}`;
  const [first, second, ...pages] = stdout.trimEnd().split('\n');
  assert.deepEqual([first, second], [`${added} (replayed)`, `${added} (replayed)`]);
  assert.equal(pages.length, 4);
  const listed = pages.slice(0, 3).flatMap((page) => JSON.parse(page));
  assert.deepEqual(
    listed.map(({ name }) => name),
    names,
  );
  assert.ok(pages[2]?.endsWith(`${added}]`));
  assert.equal(pages[3], 'the service refused it');
  assert.match(stderr, /^\{"code":"bad_request","message":"limit must be a whole number /);
});

testRefusals('curl', 'bash', 'curl.sh');
testRecipe('Python', 'python3', 'python.py');
testRecipe('TypeScript without a package', process.execPath, 'fetch.ts');

test('recipe in TypeScript with the package › with lost, refused and late answers › adds a pet once, and reads every page exactly', async () => {
  const folder = createProcessFolder();
  const text = await readFile(join(RECIPES, 'package.ts'), 'utf8');
  const main = join(folder, 'package.ts');
  await writeFile(main, text.replace("'petstore-client'", `'${CLIENT}'`));
  await assertRecipe(process.execPath, [main], '', `400 bad_request: ${LIMIT_MESSAGE}`);
  await assertUsage(process.execPath, main);
});
