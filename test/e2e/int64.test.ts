/** The whole range of int64, digit for digit, through every way into and out of the program. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runCommand } from '../support/command.ts';
import { startService } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const CATEGORY_IDS = [
  '9223372036854775807',
  '-9223372036854775808',
  '9007199254740993',
  '-9007199254740993',
  '0',
];

function writePet(categoryId: string, index: number): string {
  return `{"id":${index + 1},"name":"Rex, \\"${index}\\"","categoryId":${categoryId}}`;
}

const PETS = CATEGORY_IDS.map(writePet);

describe('int64', () => {
  const cwd = createProcessFolder();

  test('int64 › sent, got and listed › is the same to the last digit', async () => {
    await using service = await startService(['--log-level', 'silent'], { cwd });
    const headers = {
      authorization: `Bearer ${service.key}`,
      'content-type': 'application/json',
    };
    for (const [index, pet] of PETS.entries()) {
      const init = { method: 'POST', headers, body: pet };
      const created = await fetch(`${service.url}/v1/pets`, init);
      assert.equal(await created.text(), pet);
      const got = await fetch(`${service.url}/v1/pets/${index + 1}`, { headers });
      assert.equal(await got.text(), pet);
    }
    const listed = await fetch(`${service.url}/v1/pets`, { headers });
    assert.equal(await listed.text(), `[${PETS}]`);
  });

  for (const ending of ['ndjson', 'json', 'csv']) {
    test(`int64 › exported and imported as ${ending} › is the same to the last digit`, async () => {
      const file = `pets.${ending}`;
      const copy = ['--database', `sqlite:${ending}.db`];
      for (const args of [
        ['export', file],
        ['import', file, ...copy],
      ]) {
        const { status, stderr } = await runCommand(['pets', ...args], { cwd });
        assert.equal(status, 0, stderr);
      }
      const text = await readFile(join(cwd, file), 'utf8');
      for (const categoryId of CATEGORY_IDS) assert.ok(text.includes(categoryId), categoryId);
      const { stdout } = await runCommand(['pets', 'export', ...copy], { cwd });
      assert.equal(stdout, `${PETS.join('\n')}\n`);
    });
  }
});
