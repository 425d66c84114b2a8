/** CSV of pets: which text is which pet, however the text is cut into pieces. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readCsv, toCsvRow } from '../src/csv.ts';
import { PetstoreError } from '../src/error.ts';
import { parseNewPet } from '../src/pet.ts';
import type { PetRow } from '../src/rows.ts';
import { name } from './arbitraries.ts';
import { measureCpuMs } from './support/cpu-time.ts';

/** A pet or a message for each row, and last the error that ends the text. */
async function read(...pieces: readonly string[]): Promise<unknown[]> {
  const rows: unknown[] = [];
  try {
    for await (const row of readCsv(pieces)) rows.push(parse(row));
  } catch (error) {
    assert.ok(error instanceof PetstoreError, String(error));
    rows.push(error.message);
  }
  return rows;
}

function parse({ place, read }: PetRow): unknown {
  try {
    return parseNewPet(read());
  } catch (error) {
    assert.ok(error instanceof PetstoreError, String(error));
    return `${place}: ${error.message}`;
  }
}

const REX = { name: 'Rex', categoryId: 1n };
const TOM = { name: 'Tom', categoryId: 1n, status: 'sold' };

const CATEGORY =
  'categoryId must be a whole number from -9223372036854775808 to 9223372036854775807';
const cells = (count: number, found: number) =>
  `must have ${count} cells like the header, not ${found}`;
const QUOTES = 'a cell with a quote in it must be quoted, and its quotes doubled';

for (const [what, text, expected] of [
  [
    'semicolons, and quotes in quotes',
    '"name";"categoryId"\n"a ""b"";\r\n c";7\n\n',
    [{ name: 'a "b";\r\n c', categoryId: 7n }],
  ],
  ['tabs, and no last end of line', 'categoryId\tname\tstatus\n1\tTom\tsold', [TOM]],
  ['semicolons, and commas in its cells', 'id;name;categoryId\n1,5;Rex;1\n', [REX]],
  [
    'carriage returns in cells',
    'name,categoryId\na\rb,1\r\n"c\r",2\n',
    [
      { name: 'a\rb', categoryId: 1n },
      { name: 'c\r', categoryId: 2n },
    ],
  ],
  [
    'wrong rows behind a cell of many lines',
    'name,categoryId\n"a\n\nb",1\nTom\n',
    [{ name: 'a\n\nb', categoryId: 1n }, `line 5: ${cells(2, 1)}`],
  ],
  ['a header in another case', 'CATEGORYID;Name;STATUS;colour;Colour\n1;Tom;sold;;\n', [TOM]],
  ['a column given twice', 'name,categoryId,Name\n', ['line 1: the column "name" is given twice']],
  ['columns without a name', 'name,,categoryId,\nRex,x,1,', [REX]],
  ['blank rows', 'name,categoryId\r\n\r\n\n', []],
  [
    'a header in line 3',
    '\n \r\nname\nRex',
    ['line 3: the header must have the column "categoryId"'],
  ],
  [
    'values that are wrong',
    'name,categoryId,status\nRex,+1,\nRex,,\nRex,1,gone\n',
    [
      `line 2: ${CATEGORY}`,
      `line 3: ${CATEGORY}`,
      'line 4: status must be one of available, pending, sold',
    ],
  ],
  ['a cell too many', 'name;categoryId\nRex;the dog;1\n', [`line 2: ${cells(2, 3)}`]],
  ['nothing', '', ['line 1: the header must have the column "name"']],
  ['a quote that is not closed', 'name,categoryId\n"a,1\n', [`line 2: ${QUOTES}`]],
  ['text behind a closing quote', 'name,categoryId\n"a"b,1\n', [`line 2: ${QUOTES}`]],
  ['a quote in a bare cell', 'name,categoryId\na"b,1\nTom,2\n', [`line 2: ${QUOTES}`]],
] as const) {
  test(`CSV › ${what} › is read, or refused at its line`, async () => {
    assert.deepEqual(await read(text), expected);
    assert.deepEqual(await read(...text), expected);
  });
}

test('CSV › any text, cut anywhere › is read as the whole text', async () => {
  const piece = fc.constantFrom('"', '""', ',', '\n', '\r\n', '\r', 'a', '1', 'Rex,1\n', '"a",2\n');
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      const head = 'name,categoryId\n';
      assert.deepEqual(await read(head, ...pieces), await read(head + pieces.join('')));
    }),
    { numRuns: 500 },
  );
});

test('CSV › any names, quoted › are read exactly', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(name, { maxLength: 5 }), async (names) => {
      const rows = names.map((each) => `"${each.replaceAll('"', '""')}",-7`);
      assert.deepEqual(
        await read(['name,categoryId', ...rows].join('\r\n')),
        names.map((each) => ({ name: each, categoryId: -7n })),
      );
    }),
  );
});

for (const text of ['a,b', 'a"b', 'a\nb', 'a\rb', ' a', 'a ']) {
  test(`toCsvRow › the name ${JSON.stringify(text)} › is quoted, as spreadsheets need it`, () => {
    const row = toCsvRow({ id: 1n, name: text, categoryId: 3n });
    assert.equal(row, `1,"${text.replace('"', '""')}",3,\n`);
  });
}

/** In place of 8: work whose time grows with the square of its size takes 64 times as long. */
const GROWTH_MAX = 16;

for (const [what, createRows] of [
  ['blank lines', (count) => '\n'.repeat(count)],
  ['a quoted cell of blank lines', (count) => `"${'\n'.repeat(count)}",1\n`],
  ['a cell of quotes', (count) => `"${'""'.repeat(count)}",1\n`],
  ['a cell of quotes with a mistake', (count) => `"${'""'.repeat(count)}"a\n`],
] as const satisfies readonly (readonly [string, (count: number) => string])[]) {
  test(`CSV › ${what}, eight times as long › takes about eight times the CPU time`, async () => {
    const measure = (count: number) =>
      measureCpuMs(async () => {
        const text = `name,categoryId\n${createRows(count)}`;
        for (let round = 0; round < 30; round += 1) await read(text);
      });
    const short = await measure(4_000);
    const long = await measure(32_000);
    assert.ok(long < short * GROWTH_MAX, `${short} ms, and then ${long} ms`);
  });
}
