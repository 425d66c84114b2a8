/** The recipes of languages that need something which npm does not bring: curl, Python and Go. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRecipe, runRecipe } from '../support/recipe.ts';

test('recipe in curl › on a bad day › adds a pet once, and prints every page and why it was refused', async () => {
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
  assert.match(stderr, /^\{"code":"bad_request","message":"limit must be given once, /);
});

test('recipe in Python › on a bad day › adds a pet once, and reads every page exactly', () =>
  assertRecipe('python3', ['python.py']));

test('recipe in Go › on a bad day › adds a pet once, and reads every page exactly', () =>
  assertRecipe('go', ['run', 'go.go']));
