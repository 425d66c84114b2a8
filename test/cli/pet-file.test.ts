/** Pet files that are read: which pets they have, and what is refused at which line. */

import assert from 'node:assert/strict';
import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { readRows } from '../../src/cli/pet-file.ts';
import type { NewPet } from '../../src/pet.ts';
import { readGood, refuses } from '../support/pet-file.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const ROW_CHARACTERS_MAX = 65_536;

const folder = createProcessFolder();

async function read(ending: string, content: string | Buffer): Promise<NewPet[]> {
  const file = join(folder, `read.${ending}`);
  await writeFile(file, content);
  return Array.fromAsync(readGood(file));
}

const REX = { name: 'Rex', categoryId: 1n };
const TOM = { name: 'Tom', categoryId: 2n, status: 'sold' } as const;
for (const [what, ending, content, pets] of [
  [
    'NDJSON with CRLF, blank lines and no last end of line',
    'ndjson',
    '{"name":"Rex","categoryId":1}\r\n\r\n \t\n{"id":7,"name":"Tom","categoryId":2,"status":"sold"}',
    [REX, TOM],
  ],
  [
    'a JSON array over many lines, behind a byte order mark',
    'Json',
    '\uFEFF\r\n[\n {\n"name" : "Rex","categoryId":1, "x": [{"y":"]},\\"\\\\"}]}\n ,\r\n{"name":"Tom","categoryId":20e-1,"status":"sold"} ] \n',
    [REX, TOM],
  ],
  ['CSV behind a byte order mark', 'CSV', '\uFEFFname,categoryId\nRex,1\n', [REX]],
  ['an empty file', 'ndjson', '', []],
  ['an empty JSON array', 'json', ' [ ]\n', []],
] as const) {
  test(`pets import › ${what} › gives its pets`, async () => {
    assert.deepEqual(await read(ending, content), pets);
  });
}

const good = '{"name":"Rex","categoryId":1}';
for (const [what, ending, content, message] of [
  ['two values on a line', 'ndjson', `${good}${good}`, /^line 1: not valid JSON: .*position 29$/],
  ['a JSON array with a mistake', 'json', `[\n${good}\n${good}]`, / \(line 3 column 1\)$/],
  ['an empty JSON file', 'json', '\n', /^not valid JSON: Unexpected end/],
  ['an object for an array', 'json', good, 'the file must be a JSON array'],
  [
    'a row of 64 KiB of escaped quotes',
    'ndjson',
    `${good}\n{"${'\\"'.repeat(32_767)}`,
    /^line 2: not valid JSON: Unterminated string/,
  ],
] as const) {
  test(`pets import › ${what} › is refused at its place`, async () => {
    await refuses(() => read(ending, content), message);
  });
}

/** As a file is read. */
const PIECE_BYTES = 64 * 1024;
const ENDLESS_BYTES = 16 * PIECE_BYTES;
const CSV_HEAD = 'name,categoryId,x\n';
const TOO_LONG = 'longer than 65536 characters; is a quote or the end of a line missing?';

test('pets import › a file of 200 KB, with letters of two bytes on the borders of its pieces › gives its pets', async () => {
  const name = 'é'.repeat(255);
  const bytes = Buffer.from(`name,categoryId\n${`${name},1\n`.repeat(400)}`);
  const firsts = [1, 2, 3].map((piece) => bytes.readUInt8(piece * PIECE_BYTES) >> 6);
  assert.ok(firsts.includes(0b10), 'no piece begins with the second byte of a letter');
  assert.deepEqual(await read('csv', bytes), Array(400).fill({ name, categoryId: 1n }));
});

test('pets import › invalid UTF-8 far into a file, or at its end › is refused', async () => {
  const text = Buffer.from(`${good}\n`.repeat(5_000));
  for (const hex of ['22e282220a', '22f09f98']) {
    const content = Buffer.concat([text, Buffer.from(hex, 'hex')]);
    const message = 'the file is not UTF-8: save it as UTF-8 (in a spreadsheet: "CSV UTF-8")';
    await refuses(() => read('ndjson', content), message);
  }
});

for (const [ending, head, row, beginnings] of [
  ['ndjson', '', `${good}\n`, ['{"name":"']],
  ['csv', CSV_HEAD, `${'é'.repeat(20)},1,\n`, ['a', '"\n']],
] as const) {
  test(`pets import › a row of ${ending} that does not end › is refused at its line, and not read on`, async (t) => {
    const file = join(folder, `endless.${ending}`);
    const rows = 5_000;
    const line = head.split('\n').length + rows;
    const before = head + row.repeat(rows);
    for (const beginning of beginnings) {
      await writeFile(file, before + beginning.padEnd(ENDLESS_BYTES, beginning.at(-1)));
      const input = createReadStream(file);
      t.mock.getter(process, 'stdin', () => input);
      await refuses(() => Array.fromAsync(readGood('-', ending)), `line ${line}: ${TOO_LONG}`);
      const restBytes = Buffer.byteLength(before) + ENDLESS_BYTES - input.bytesRead;
      assert.ok(restBytes > ENDLESS_BYTES / 2, `all but ${restBytes} bytes were read`);
    }
  });
}

test('pets import › a row › may have 65,536 characters and not more', async () => {
  const row = `Rex,1,${'é'.repeat(ROW_CHARACTERS_MAX - 'Rex,1,'.length)}`;
  assert.deepEqual(await read('csv', CSV_HEAD + row), [REX]);
  await refuses(() => read('csv', `${CSV_HEAD}${row}e`), `line 2: ${TOO_LONG}`);
});

for (const [what, last] of [
  ['until a wrong row', '{'],
  ['until its reader stops', ''],
] as const) {
  test(`pets import › a file that is read ${what}, three times › is closed each time`, {
    skip: !existsSync('/proc') && 'open files are found in /proc',
  }, async () => {
    const file = join(folder, 'closed.ndjson');
    await writeFile(file, `${`${good}\n`.repeat(3_000)}${last}`);
    const listOpen = () => readdirSync('/proc/self/fd').length;
    const before = listOpen();
    for (let times = 0; times < 3; times += 1) {
      const reading = (async () => {
        for await (const _pet of readGood(file)) if (last === '') break;
      })();
      await (last === '{' ? assert.rejects(reading, { code: 'bad_request' }) : reading);
    }
    assert.equal(listOpen(), before);
  });
}

test('pets import › a JSON file of 64 MiB, and of more › is read, and refused before its end', async () => {
  const file = join(folder, 'large.json');
  await writeFile(file, '['.repeat(17));
  for (const [more, message] of [
    [0, 'the JSON must have at most 16 levels'],
    [1, 'a JSON file may have at most 64 MiB: use NDJSON for more pets'],
  ] as const) {
    await truncate(file, 64 * 1024 * 1024 + more);
    await refuses(() => Array.fromAsync(readGood(file)), message);
  }
});

test('pets import › a JSON array of more than 5,000,000 values › is refused', async () => {
  const message = 'the JSON must have at most 5000000 values';
  await refuses(() => read('json', `[${'1,'.repeat(5_000_000)}1]`), message);
});

test('pets import › a file that cannot be read › is named in one line', async () => {
  const missing = join(folder, 'missing.csv');
  const why = `ENOENT: no such file or directory, open '${missing}'`;
  await refuses(() => Array.fromAsync(readGood(missing)), `${missing} cannot be read: ${why}`);
});

test('pets import › a stream that breaks behind a wrong row › tells why it broke', async (t) => {
  async function* breakOff() {
    yield Buffer.from('{"name":"Rex"}\n');
    await setImmediate();
    throw new Error('read EIO');
  }
  const input = Readable.from(breakOff());
  t.mock.getter(process, 'stdin', () => input);
  const message = 'standard input cannot be read: read EIO';
  await refuses(() => Array.fromAsync(readGood('-', 'ndjson')), message);
});

test('pets import › a workbook, or any other ending › is told what to do', () => {
  const other =
    'the name of the file must end with one of .ndjson, .jsonl, .json, .csv, or --format must name the format';
  const toWorkbook = (file: string) => [file, `${file} is a workbook: save it as "CSV UTF-8"`];
  for (const [file, message] of [
    ...['a b/list.xlsx', 'list.XLS', 'pets.ods'].map(toWorkbook),
    ...['pets.xml', 'pets', '.csv', 'pets.csv.gz', 'pets.xlsx.gz'].map((file) => [file, other]),
  ]) {
    assert.throws(() => readRows({ file }), { code: 'bad_request', message });
  }
});
