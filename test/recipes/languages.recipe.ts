/** The recipes of languages that need something which npm does not bring: curl and Python. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertFailures, assertRecipe, assertUsage, runRecipe } from '../support/recipe.ts';

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

test('recipe in Python › with lost, refused and late answers › adds a pet once, and reads every page exactly', () =>
  assertRecipe('python3', ['python.py']));

for (const [language, command, file] of [
  ['curl', 'bash', 'curl.sh'],
  ['Python', 'python3', 'python.py'],
] as const) {
  test(`recipe in ${language} › an answer of another server, or a next page there › ends it`, () =>
    assertFailures(command, [file]));

  test(`recipe in ${language} › without a key or an address › says how it is started`, () =>
    assertUsage(command, [file]));
}
