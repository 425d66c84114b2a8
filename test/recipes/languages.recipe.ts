/** The recipes of languages that need something which npm does not bring: curl and Python. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runRecipe, testRecipe, testRefusals } from '../support/recipe.ts';

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
