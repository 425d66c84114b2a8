/** CSV in the console: the same pets, and the same words for wrong rows, as `petstore pets import` has. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readCsv } from '../src/cli/pet-file/csv.ts';
import { parseCsv } from '../src/console/csv.ts';
import { PetstoreError } from '../src/error.ts';
import type { NewPet } from '../src/pet.ts';
import { RowError } from '../src/pet-file.ts';
import { name } from './arbitraries.ts';

const QUOTES = /: (?:a cell with a quote|a closing quote|a quote is not closed).*/;

/** What the console makes of it: a pet or a message for each row, or the error that ends it. */
function parse(text: string): unknown {
  try {
    return parseCsv(text).map((row) => (row instanceof RowError ? row.message : row));
  } catch (error) {
    return describe(error);
  }
}

/** What the command makes of it. */
async function read(text: string): Promise<unknown> {
  const rows: (NewPet | string)[] = [];
  try {
    async function* chunks() {
      yield Buffer.from(text);
    }
    for await (const row of readCsv(chunks())) {
      rows.push(row instanceof RowError ? row.message : row);
    }
  } catch (error) {
    return describe(error);
  }
  return rows;
}

/** The reader of the command tells three mistakes with quotes apart. */
function describe(error: unknown): string {
  assert.ok(error instanceof PetstoreError, String(error));
  return error.message.replace(QUOTES, ': quotes');
}

for (const [what, text] of [
  ['columns in any order and unknown ones', 'id,status,,categoryId,x,name,\r\n9,,,1,"a,b",Rex,\n'],
  ['semicolons, and quotes in quotes', 'name;categoryId\n"a ""b"";\r\n c";9223372036854775807\n\n'],
  ['tabs, and no last end of line', 'categoryId\tname\tstatus\n2\tTom\tsold'],
  ['a lone carriage return in a cell', 'name,categoryId\na\rb,1\r\n'],
  ['wrong rows behind a cell of many lines', 'name,categoryId\n"a\n\nb",x\n,1\nTom\nTom,1,2\n'],
  ['a delimiter at the end', 'name,categoryId,\nRex,1,'],
  ['no pets', 'name,categoryId\r\n\r\n'],
  ['nothing', ''],
  ['a column twice', 'name,categoryId,name\n'],
  ['a quote that is not closed', 'name,categoryId\nRex,1\n"a,1\n'],
  ['text behind a closing quote', 'name,categoryId\n"a"b,1\n'],
  ['a quote in a bare cell', 'name,categoryId\na"b,1\n'],
] as const) {
  test(`console CSV › ${what} › is what pets import makes of it`, async () => {
    assert.deepEqual(parse(text), await read(text));
  });
}

test('console CSV › any text of cells, quotes and line ends › is what pets import makes of it', async () => {
  const piece = fc.constantFrom(
    '"',
    '""',
    ',',
    ';',
    '\n',
    '\r\n',
    '\r',
    'a',
    '1',
    'Rex,1\n',
    '"a",2\n',
  );
  const text = fc.tuple(fc.constantFrom(',', ';'), fc.array(piece, { maxLength: 12 }));
  await fc.assert(
    fc.asyncProperty(text, async ([delimiter, pieces]) => {
      const csv = `name${delimiter}categoryId\n${pieces.join('')}`;
      const expected = await read(csv);
      assert.deepEqual(parse(csv), expected);
    }),
    { numRuns: 500 },
  );
});

test('console CSV › any names, quoted › are read exactly', () => {
  fc.assert(
    fc.property(fc.array(name, { maxLength: 5 }), (names) => {
      const rows = names.map((each) => `"${each.replaceAll('"', '""')}",-7`);
      assert.deepEqual(
        parseCsv(['name,categoryId', ...rows].join('\r\n')),
        names.map((each) => ({ name: each, categoryId: -7n })),
      );
    }),
  );
});
