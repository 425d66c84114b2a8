/** CSV of pets: which text is which pet, however the text is cut into pieces. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readCsv } from '../src/csv-read.ts';
import { createCsvFormat } from '../src/csv-write.ts';
import { PetstoreError } from '../src/error.ts';
import { type GivenPet, type Pet, parsePetRow } from '../src/pet.ts';
import type { FileRow } from '../src/rows.ts';
import { int64, name } from './arbitraries.ts';
import { measureCpuMs } from './support/cpu-time.ts';

/** A pet or a message for each row, and last the error that ends the text. */
async function read(...pieces: readonly string[]): Promise<unknown[]> {
  const rows: unknown[] = [];
  try {
    for await (const row of readCsv(pieces)) rows.push(parse(row));
  } catch (error) {
    rows.push(toMessage(error));
  }
  return rows;
}

function parse({ place, read }: FileRow): unknown {
  try {
    return parsePetRow(read());
  } catch (error) {
    return `${place}: ${toMessage(error)}`;
  }
}

/** @throws what is no refusal. */
function toMessage(error: unknown): string {
  if (!(error instanceof PetstoreError)) throw error;
  return error.message;
}

const REX = { name: 'Rex', categoryId: 1n };
const TOM = { name: 'Tom', categoryId: 1n, status: 'sold' };

const wrong = (place: string, field: string, value: string, rule: string) =>
  `${place}: ${field} ${JSON.stringify(value)} ${rule}`;
const CATEGORY = 'must be a whole number from -9223372036854775808 to 9223372036854775807';
const ROUNDED =
  'is written with an exponent: write all digits (in a spreadsheet, format the column as a number without decimals, or as text)';
const ZEROS = 'has leading zeros: write the number without them';
const SEPARATED = 'has more than digits: write a whole number in digits only';
const NAME_RULE =
  'must be a string of 1 to 255 characters, not blank, without U+0000 and unpaired surrogates';
const STATUS = 'must be one of available, pending, sold';
const cells = (count: number, found: number) =>
  `must have ${count} cells like the header, not ${found}`;
const QUOTES = 'a cell with a quote in it must be quoted, and its quotes doubled';
const HEADER = 'line 1: the header must name the columns: id, name, categoryId, status';
const NO_ROW = 'the file has no row below its header';
const named = (...names: readonly string[]) => names.map((name) => ({ ...REX, name }));
const MISTYPED = 'line 1: column "Stauts" is not a field of a pet (did you mean "status"?)';

for (const [value, rule] of [
  ['1.23457E+15', ROUNDED],
  ['1,2e+5', ROUNDED],
  ['1,234,567', SEPARATED],
  ['1\u202f000', SEPARATED],
  ['0007', ZEROS],
  ['+1', CATEGORY],
  ['', CATEGORY],
  ['9007199254740992.0', CATEGORY],
] as const) {
  test(`CSV › the integer "${value}" › is refused, and told why`, async () => {
    const expected = [wrong('line 2', 'categoryId', value, rule)];
    assert.deepEqual(await read(`name;categoryId\nRex;${value}\n`), expected);
  });
}

for (const [what, text, expected] of [
  ['quotes in quotes', '"name";"categoryId"\n"a ""b"";\r\n c";1\n\n', named('a "b";\r\n c')],
  ['tabs, and no last end of line', 'categoryId\tname\tstatus\n1\tTom\tsold', [TOM]],
  ['semicolons, and commas in its cells', 'id;name;categoryId\n1,5;Rex;1\n', [REX]],
  [
    'ends of lines in cells',
    'name,categoryId\n"a\r\nb",1\r\n"c\n\r",1\na\rb,1\n',
    [...named('a\r\nb', 'c\n\r'), `line 7: ${cells(2, 1)}`, ...named('b')],
  ],
  ['carriage returns as line ends', 'name,categoryId,status\rRex,1,\r\rTom,1,sold\r', [REX, TOM]],
  ['the labels of the console', 'Id,Name,Category ID,Status\n7,Tom,1,sold\n', [TOM]],
  ['names of a database', 'id|name|category_id|status\n7|Tom|1|sold\n', [TOM]],
  ['blanks around names and values', ' name, categoryId , status\nTom, 1 , sold\n', [TOM]],
  ['a line that names the separator', 'sep=;\r\nname;categoryId\r\nRex;1\r\n', [REX]],
  ['another separator than in the header', '"sep=\t"\n"a,b"\n', [HEADER.replace('1', '2')]],
  ['the type of PowerShell', '#TYPE Pet, Store\r\n"name";"categoryId"\r\n"Rex";"1"\r\n', [REX]],
  ['empty rows of a spreadsheet', ';;\nname;categoryId;\n;;\nRex;1;\n; ;\n', [REX]],
  ['a mistyped column', 'Name;categoryId;Notes;Stauts\nRex;1;;sold\n', [MISTYPED]],
  ...['price', 'notes', 'x', 'no'].map((name) => {
    const refusal = `line 1: column "${name}" is not a field of a pet (--ignore-columns leaves it out)`;
    return [`the column ${name}`, `name;categoryId;${name}\nRex;1;2\n`, [refusal]] as const;
  }),
  ['no header', 'Rex;1\n', [HEADER]],
  ['a double of pandas', 'name,categoryId\nRex,1.0\n', [REX]],
  ["an int64 behind a spreadsheet's mark", "name,categoryId\nRex,'1\n", [REX]],
  ["a name behind ' in a column without the mark", "name,categoryId\n'1,1\n", named("'1")],
  ['names in a marked column', "'name,categoryId\n'=1,1\n''t,1\nt,1\n", named('=1', "'t", 't')],
  ['a column given twice', 'name,categoryId,Name\n', ['line 1: the column "name" is given twice']],
  [
    'columns without a name',
    'name,,categoryId,\nRex, ,1,\nRex,x,1,',
    [REX, 'line 3: the cell "x" is in a column without a name'],
  ],
  ['blank rows', 'name,categoryId\r\n\r\n\n', [NO_ROW]],
  [
    'a header in line 3',
    '\n \r\nname\nRex',
    ['line 3: the header must have the column "categoryId"'],
  ],
  [
    'values that are wrong',
    `name,categoryId,status\n ,1,${'x'.repeat(38)}\n${'x'.repeat(256)},1,\n`,
    [
      `${wrong('line 2', 'name', ' ', NAME_RULE)}; status "${'x'.repeat(38)}" ${STATUS}`,
      `line 3: name "${'x'.repeat(39)}… ${NAME_RULE}`,
    ],
  ],
  ['a cell too many', 'name;categoryId\nRex;the dog;1\n', [`line 2: ${cells(2, 3)}`]],
  [
    'rows without their empty last cells',
    'categoryId,name,status,,id\n1,Tom,sold,\n1,Rex\n1\n',
    [TOM, REX, `line 4: ${cells(5, 1)}`],
  ],
  ['nothing', '', [HEADER]],
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
    { numRuns: 150 },
  );
});

test('CSV › columns that no pet has › are named, and ignored lose only their cells', async () => {
  const text = 'name,Stauts,,categoryId, a b\nRex,sold,x,1,2\nRex,,,1\n';
  await assert.rejects(Array.fromAsync(readCsv([text])), { columns: ['Stauts', ' a b'] });
  const rows = await Array.fromAsync(readCsv([text], true));
  assert.deepEqual(rows.map(parse), [REX, REX]);
});

test('CSV › a name that a spreadsheet would split or trim › is written in quotes', () => {
  const { row } = createCsvFormat(false, ',');
  for (const name of ['a,b', 'a;b', 'a|b', 'a\tb', 'a\nb', 'a\rb', ' a', 'a ']) {
    assert.equal(row({ id: 1n, name, categoryId: 3n }), `1,"${name}",3,\n`);
  }
});

test('CSV › for a spreadsheet › marks integers from 12 characters on, and refuses names that are lost', () => {
  const { row } = createCsvFormat(true, ';');
  const pet = { id: 12_345_678_901n, name: 't', categoryId: -12_345_678_901n };
  assert.equal(row(pet), "12345678901;'t;'-12345678901;\n");
  for (const name of ['a\tb', 'a\r\nb', '\u0085a', 'a\uffff']) {
    assert.throws(() => row({ id: 7n, name, categoryId: 1n }), {
      code: 'bad_request',
      message:
        'the name of pet 7 has control characters, which a spreadsheet loses: export it as plain CSV',
    });
  }
});

const PLAIN = [createCsvFormat(false, ','), createCsvFormat(false, ';')];
const EXCEL = [createCsvFormat(true, ','), createCsvFormat(true, ';')];

/** The pets of the text with their ids, if every row is taken. */
async function readAll(text: string): Promise<GivenPet[] | undefined> {
  try {
    const rows = await Array.fromAsync(readCsv([text.replace(/^\ufeff/, '')]));
    return rows.map(({ read }) => parsePetRow(read(), true));
  } catch (error) {
    toMessage(error);
    return undefined;
  }
}

async function assertRoundTrip(pets: readonly GivenPet[]): Promise<void> {
  const isLost = pets.some(({ name }) => /[^\P{Cc}\n]|[\ufffe\uffff]/u.test(name));
  for (const { head, row } of isLost ? PLAIN : [...PLAIN, ...EXCEL]) {
    const text = head + pets.map((pet) => row(pet as Pet)).join('');
    assert.deepEqual(await readAll(text), pets);
  }
}

/** The texts of cells: what people and programs write, and what looks like it. */
const cell = fc.oneof(
  name,
  int64.map(String),
  fc.constantFrom(...' 7 | sold|1\r||sold|available|7|-0|0|7.0|007|1e3|1.000'.split('|')),
  fc.constantFrom(..."'7 =1 +1 'a '' \u00a07 true sep=; #TYPE 9223372036854775808".split(' ')),
  fc.string({ unit: fc.constantFrom(...'\'"=+-@,;|\t\r\n .0179eE'), maxLength: 12 }),
);
const oftenInteger = fc.oneof({ weight: 4, arbitrary: int64.map(String) }, cell);
const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

test('CSV › any cells › are refused, or stored as the value that their text is, and come back', async () => {
  const isInteger = (text: string, value: bigint | undefined) =>
    text.trim().replace(/^'/, '').replace(/\.0$/, '') === String(value ?? '');
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(',', ';', '|', '\t'),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.tuple(
        oftenInteger,
        fc.oneof(name, cell),
        oftenInteger,
        fc.oneof(fc.constantFrom('', 'sold', ' pending\u00a0'), cell),
      ),
      async (separator, end, texts) => {
        const rows = [['id', 'name', 'categoryId', 'status'], texts.map(quoted)];
        const pets = await readAll(rows.map((row) => row.join(separator) + end).join(''));
        fc.pre(pets !== undefined);
        const [id = '', itsName, categoryId = '', status = ''] = texts;
        const [pet] = pets;
        assert.ok(pet !== undefined && pets.length === 1);
        assert.ok(isInteger(id, pet.id) && isInteger(categoryId, pet.categoryId), String(texts));
        assert.deepEqual([pet.name, pet.status ?? ''], [itsName, status.trim()]);
        await assertRoundTrip(pets);
      },
    ),
    // Most rows are refused. These do not count.
    { numRuns: 50 },
  );
});

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
        for (let round = 0; round < 5; round += 1) await read(text);
      });
    const short = await measure(2_000);
    const long = await measure(16_000);
    assert.ok(long < short * GROWTH_MAX, `${short} ms, and then ${long} ms`);
  });
}
