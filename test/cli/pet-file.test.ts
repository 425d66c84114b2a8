/** Pet files: what is read, what is refused at which line, and that what is written can be read back. */

import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readPets, writePets } from '../../src/cli/pet-file/pet-file.ts';
import { PetstoreError } from '../../src/error.ts';
import { INT64_MAX, INT64_MIN } from '../../src/int64.ts';
import type { NewPet, Pet } from '../../src/pet.ts';
import { int64, name, status } from '../arbitraries.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const ENDINGS = ['ndjson', 'jsonl', 'json', 'csv'] as const;
const ROW_BYTES_MAX = 65_536;

const folder = createProcessFolder();

async function read(ending: string, content: string | Buffer): Promise<NewPet[]> {
  const file = join(folder, `read.${ending}`);
  await writeFile(file, content);
  return collect(readGood(file));
}

/** The pets of the file, up to the first row that is none. */
async function* readGood(file: string, onRead?: (bytes: number) => void): AsyncGenerator<NewPet> {
  for await (const row of readPets({ file }, onRead)) {
    if (row instanceof PetstoreError) throw row;
    yield row;
  }
}

function refuses(file: () => Promise<unknown>, message: string | RegExp): Promise<void> {
  return assert.rejects(file, { name: 'PetstoreError', code: 'bad_request', message });
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

async function* iterate<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

const REX = { name: 'Rex', categoryId: 1n };
const TOM = { name: 'Tom', categoryId: 2n, status: 'sold' } as const;
const CATEGORY =
  'categoryId must be a whole number from -9223372036854775808 to 9223372036854775807';

describe('pets import', () => {
  const accepted: (readonly [string, string, string | Buffer])[] = [
    [
      'NDJSON with CRLF, blank lines and no last end of line',
      'ndjson',
      '{"name":"Rex","categoryId":1}\r\n\r\n \t\n{"id":7,"name":"Tom","categoryId":2,"status":"sold"}',
    ],
    [
      'NDJSON behind a byte order mark',
      'JSONL',
      '\uFEFF{"name":"Rex","categoryId":1.0}\n{"name":"Tom","categoryId":2,"status":"sold"}\n',
    ],
    [
      'a JSON array on one line',
      'json',
      '[{"name":"Rex","categoryId":1},{"name":"Tom","categoryId":2,"status":"sold"}]',
    ],
    [
      'a JSON array over many lines, behind a byte order mark',
      'Json',
      '\uFEFF\r\n[\n {\n"name" : "Rex","categoryId":1, "x": [{"y":"]},\\"\\\\"}]}\n ,\r\n{"name":"Tom","categoryId":20e-1,"status":"sold"} ] \n',
    ],
    [
      'CSV with columns in any order and unknown ones',
      'csv',
      'id,status,,categoryId,colour,name,\r\n9,,,1,"re,d",Rex,\n\n,sold,,2,"""\n","Tom",\r\n',
    ],
    [
      'CSV behind a byte order mark without a last end of line',
      'CSV',
      '\uFEFF"name",categoryId,status\nRex,1,""\nTom,2.0,sold',
    ],
  ];
  for (const delimiter of [';', '\t']) {
    const cells = (...lines: readonly (readonly string[])[]) =>
      lines.map((line) => line.join(delimiter)).join('\r\n');
    accepted.push([
      `CSV with ${JSON.stringify(delimiter)}, a byte order mark and commas in its cells`,
      'csv',
      cells(
        ['\uFEFF"id, old"', 'name', '"status"', '"categoryId"'],
        ['1,5', 'Rex', '', '1'],
        ['', '"Tom"', 'sold', '2'],
      ),
    ]);
  }
  for (const [what, ending, content] of accepted) {
    test(`pets import › ${what} › gives its pets`, async () => {
      assert.deepEqual(await read(ending, content), [REX, TOM]);
    });
  }

  const empty: readonly (readonly [string, string, string])[] = [
    ['NDJSON', 'ndjson', ''],
    ['JSON array', 'json', ' [ ]\n'],
    ['CSV', 'csv', 'name,categoryId\n'],
  ];
  for (const [what, ending, content] of empty) {
    test(`pets import › an empty ${what} › gives no pet`, async () => {
      assert.deepEqual(await read(ending, content), []);
    });
  }

  const good = '{"name":"Rex","categoryId":1}';
  const refused: readonly (readonly [string, string, string | Buffer, string | RegExp])[] = [
    [
      'a bad NDJSON row',
      'ndjson',
      `${good}\n\n{"name":"a","categoryId":1.5}`,
      `line 3: ${CATEGORY}`,
    ],
    ['NDJSON that is no JSON', 'ndjson', `${good}\n{"name":}\n`, /^line 2: not valid JSON: .+$/],
    ['two values on a line', 'ndjson', `${good}${good}`, /^line 1: not valid JSON: .*position 29$/],
    [
      'a member given twice',
      'ndjson',
      '{"name":"a","name":"b","categoryId":1}',
      'line 1: the member "name" is given twice',
    ],
    [
      'a null status',
      'ndjson',
      '{"name":"a","categoryId":1,"status":null}',
      /^line 1: status must/,
    ],
    ['an array in NDJSON', 'ndjson', '[]', 'line 1: a pet must be a JSON object'],
    [
      'a wrong pet of a JSON array',
      'json',
      `[${good},\n${good},{"name":"a","categoryId":9223372036854775808}]`,
      `pet 3: ${CATEGORY}`,
    ],
    ['JSON with 17 levels', 'json', `[${'['.repeat(16)}`, 'the JSON has more than 16 levels'],
    [
      'a JSON array with a mistake',
      'json',
      `[\n${good}\n${good}]`,
      /^not valid JSON: .* \(line 3 column 1\)$/,
    ],
    ['an empty JSON file', 'json', '\n', /^not valid JSON: Unexpected end/],
    ['an object for an array', 'json', good, 'the file must be a JSON array'],
    [
      'a row of 64 KiB of escaped quotes',
      'ndjson',
      `${good}\n{"${'\\"'.repeat(32_767)}`,
      /^line 2: not valid JSON: Unterminated string/,
    ],
    [
      'a blank name behind a quoted newline',
      'csv',
      'name,categoryId\r\n"a\r\n\nb",1\r\n" ",2\r\n',
      /^line 5: name must be/,
    ],
    ['a number that is no JSON number', 'csv', 'name,categoryId\nRex,+1\n', `line 2: ${CATEGORY}`],
    ['an empty categoryId', 'csv', 'name,categoryId\nRex,\n', `line 2: ${CATEGORY}`],
    [
      'an unknown status',
      'csv',
      'name,categoryId,status\n\nRex,1,gone\n',
      'line 3: status must be one of available, pending, sold',
    ],
    [
      'a name with the delimiter',
      'csv',
      'name;categoryId\nRex;the dog;1\n',
      'line 2: must have 2 cells, as the header, not 3',
    ],
    [
      'a delimiter that is none',
      'csv',
      'name|categoryId\nRex|1\n',
      'line 1: the header must have the column "name"',
    ],
    [
      'no name column',
      'csv',
      'Name,categoryId\n',
      'line 1: the header must have the column "name"',
    ],
    [
      'no categoryId column',
      'csv',
      'name\n',
      'line 1: the header must have the column "categoryId"',
    ],
    ['an empty CSV file', 'csv', '', 'line 1: the header must have the column "name"'],
    [
      'a repeated column',
      'csv',
      'name,categoryId,name\n',
      'line 1: the column "name" is given twice',
    ],
    [
      'too many cells',
      'csv',
      'name,categoryId\na,1\nb,2,3\n',
      'line 3: must have 2 cells, as the header, not 3',
    ],
    [
      'too few cells',
      'csv',
      'name,categoryId\na\n',
      'line 2: must have 2 cells, as the header, not 1',
    ],
    [
      'a quote that is not closed',
      'csv',
      'name,categoryId\na,1\n"b,2\nc,3',
      'line 3: a cell with a quote in it must be quoted, and its quotes doubled',
    ],
    [
      'text behind a closing quote',
      'csv',
      'name,categoryId\n"a"b,1\n',
      'line 2: a cell with a quote in it must be quoted, and its quotes doubled',
    ],
    [
      'a quote in a bare cell',
      'csv',
      'name,categoryId\na,1\n5" dog,1\n',
      'line 3: a cell with a quote in it must be quoted, and its quotes doubled',
    ],
    [
      'a bad row in front of broken quotes',
      'csv',
      'name,categoryId\na,x\n5" dog,1\n',
      `line 2: ${CATEGORY}`,
    ],
  ];
  for (const [what, ending, content, message] of refused) {
    test(`pets import › ${what} › is refused at its place`, async () => {
      await refuses(() => read(ending, content), message);
    });
  }

  /** As a file is read. */
  const PIECE_BYTES = 64 * 1024;
  const FAR_BYTES = 2 * PIECE_BYTES;
  const ENDLESS_BYTES = 16 * 64 * 1024;
  const starts = { ndjson: '', csv: 'name,categoryId\n' };
  for (const [ending, start] of Object.entries(starts)) {
    const row = ending === 'csv' ? `${'é'.repeat(20)},1\n` : `${good}\n`;
    const rows = Math.ceil(FAR_BYTES / Buffer.byteLength(row));
    const line = start.split('\n').length + rows;

    test(`pets import › invalid UTF-8 far into ${ending} › is refused`, async () => {
      const text = Buffer.from(start + row.repeat(rows));
      await refuses(
        () => read(ending, Buffer.concat([text, Buffer.from([0x22, 0xe2, 0x82, 0x22, 0x0a])])),
        `${join(folder, `read.${ending}`)} is not valid UTF-8`,
      );
      await refuses(
        () => read(ending, Buffer.concat([text, Buffer.from([0x22, 0xf0, 0x9f, 0x98])])),
        `${join(folder, `read.${ending}`)} is not valid UTF-8`,
      );
    });

    test(`pets import › a row of ${ending} that does not end › is refused at its line, and not read on`, async () => {
      const beginnings = ending === 'csv' ? ['a', '"', ',,'] : ['{"name":"', '7'];
      const file = join(folder, `endless.${ending}`);
      const before = start + row.repeat(rows);
      for (const beginning of beginnings) {
        await writeFile(file, before + beginning.padEnd(ENDLESS_BYTES, beginning.at(-1)));
        let readBytes = 0;
        const pets = readGood(file, (bytes) => {
          readBytes += bytes;
        });
        await refuses(
          () => collect(pets),
          `line ${line}: longer than 65536 bytes; is a quote or the end of a line missing?`,
        );
        const restBytes = Buffer.byteLength(before) + ENDLESS_BYTES - readBytes;
        assert.ok(restBytes > ENDLESS_BYTES / 2, `all but ${restBytes} bytes were read`);
      }
    });

    test(`pets import › a row of ${ending} › may have 64 KiB and not more`, async () => {
      const [opening, closing] =
        ending === 'csv' ? ['Rex,1,', ''] : ['{"name":"Rex","categoryId":1,"x":"', '"}'];
      const head = ending === 'csv' ? 'name,categoryId,x\n' : start;
      // The last row of CSV is taken only at the end of the file.
      const tail = ending === 'csv' ? '\nRex,1,\n' : '';
      const room = ROW_BYTES_MAX - opening.length - closing.length;
      const fill = 'é'.repeat(room / 2).padEnd(room - Math.floor(room / 2), 'e');
      const pets = await read(ending, head + opening + fill + closing + tail);
      assert.deepEqual(pets, ending === 'csv' ? [REX, REX] : [REX]);
      await refuses(
        () => read(ending, `${head + opening + fill}e${closing}${tail}`),
        new RegExp(`^line ${head.split('\n').length}: longer than 65536 bytes`),
      );
    });
  }

  test('pets import › a JSON file of more than 64 MiB › is refused before its end', async () => {
    const file = join(folder, 'large.json');
    await writeFile(file, '[');
    await truncate(file, 64 * 1024 * 1024 + 1);
    await refuses(
      () => collect(readGood(file)),
      'a JSON file may have at most 64 MiB; use NDJSON for more pets',
    );
  });

  test('pets import › a JSON array of more than 5,000,000 values › is refused', async () => {
    await refuses(
      () => read('json', `[${'1,'.repeat(5_000_000)}1]`),
      'the JSON has more than 5000000 values',
    );
  });

  test('pets import › a JSON array of more values than a client may send › gives its pets', async () => {
    assert.equal((await read('json', `[${Array(2_000).fill(good)}]`)).length, 2_000);
  });

  test('pets import › characters of several bytes at each place › are read exactly', async () => {
    const rows = Array.from({ length: 4_000 }, (_, i) => `${'x'.repeat(i % 7)}é€🐈`.repeat(3));
    const csv = ['name,categoryId', ...rows.map((row) => `${row},1`)].join('\n');
    assert.deepEqual(
      (await read('csv', csv)).map(({ name }) => name),
      rows,
    );
  });

  test('pets import › a byte order mark at the start of a piece of the file › is part of its name', async () => {
    const rows = `${good}\n`.repeat(Math.floor(PIECE_BYTES / (good.length + 1)) - 4);
    const start = '{"categoryId":1,"name":"';
    const name = `${'x'.repeat(PIECE_BYTES - rows.length - start.length)}\uFEFF`;
    const pets = await read('ndjson', `${rows}${start}${name}"}\n`);
    assert.equal(pets.at(-1)?.name, name);
  });

  test('pets import › UTF-16 › is refused', async () => {
    await refuses(
      () => read('csv', Buffer.from('\uFEFFname', 'utf16le')),
      `${join(folder, 'read.csv')} is not valid UTF-8`,
    );
  });

  test('pets import › rows in front of a bad one › are given first', async () => {
    const file = join(folder, 'partly.ndjson');
    await writeFile(file, `${good}\nx\n`);
    const pets: NewPet[] = [];
    await refuses(async () => {
      for await (const pet of readGood(file)) pets.push(pet);
    }, /^line 2: /);
    assert.deepEqual(pets, [REX]);
  });

  for (const [ending, content, places] of [
    ['ndjson', `x\n${good}\n{}\n\n${good}`, [1, 3]],
    ['json', `[\n{"name":7},${good},\n{"name":8},\n${good}]`, [1, 3]],
    ['csv', 'name,categoryId\n\nRex,x\nRex,1\n"a\nb"\nRex,1', [3, 5]],
  ] as const) {
    test(`pets import › wrong rows of ${ending} › are told each, among the pets`, async () => {
      const file = join(folder, `wrong.${ending}`);
      await writeFile(file, content);
      const rows = await collect(readPets({ file }));
      const wrong = rows.filter((row) => row instanceof PetstoreError);
      assert.deepEqual(
        wrong.map(({ message }) => Number(/^(?:line|pet) (\d+): ./.exec(message)?.[1])),
        places,
      );
      assert.deepEqual(
        rows.filter((row) => !(row instanceof PetstoreError)),
        [REX, REX],
      );
    });
  }

  test('pets import › a format that is named › is read, whatever the ending', async () => {
    const file = join(folder, 'pets.txt');
    await writeFile(file, 'name,categoryId\nRex,1\n');
    assert.deepEqual(await collect(readPets({ file, format: 'csv' })), [REX]);
  });

  test('pets import › a file that cannot be read › is named in one line', async () => {
    const missing = join(folder, 'missing.csv');
    await refuses(
      () => collect(readGood(missing)),
      `${missing} cannot be read: no such file or directory`,
    );
    const directory = join(folder, 'folder.json');
    await mkdir(directory);
    await refuses(
      () => collect(readGood(directory)),
      `${directory} cannot be read: illegal operation on a directory`,
    );
  });

  test('pets import › any other ending › is told the ones there are', () => {
    for (const file of ['pets.xml', 'pets', '.csv', 'pets.csv.gz']) {
      assert.throws(() => readPets({ file }), {
        code: 'bad_request',
        message:
          'the name of the file must end with one of .ndjson, .jsonl, .json, .csv, or --format name its format',
      });
    }
  });
});

/** Names that a row of CSV could be cut at, of which the arbitrary names have few. */
const csvName = fc
  .string({ unit: fc.constantFrom(...'",\n\r \u2028\u2029\ufeff\\a'), minLength: 1, maxLength: 20 })
  .filter((text) => /["',\\a]/.test(text));

const pet: fc.Arbitrary<Pet> = fc.record(
  { id: int64, name: fc.oneof(name, csvName), categoryId: int64, status },
  { requiredKeys: ['id', 'name', 'categoryId'], noNullPrototype: true },
);

describe('pets export', () => {
  for (const ending of ENDINGS) {
    test(`pets export › any pets to ${ending} › read back equal`, async () => {
      const file = join(folder, `round.${ending}`);
      await fc.assert(
        fc.asyncProperty(fc.array(pet), async (pets) => {
          await writePets({ file }, iterate(pets), new PassThrough());
          const expected = pets.map(({ id: _, ...newPet }) => newPet);
          assert.deepEqual(await collect(readGood(file)), expected);
        }),
      );
    });

    test(`pets export › more than one write to ${ending} › reads back equal`, async () => {
      const file = join(folder, `many.${ending}`);
      const pets = Array.from({ length: 5_000 }, (_, index) => ({
        id: BigInt(index),
        name: `${'🐈"é\n'.repeat(index % 40)}x`,
        categoryId: 2n ** 62n + BigInt(index),
      }));
      await writePets({ file }, iterate(pets), new PassThrough());
      const expected = pets.map(({ id: _, ...newPet }) => newPet);
      assert.deepEqual(await collect(readGood(file)), expected);
    });
  }

  const pets: Pet[] = [
    { id: 1n, name: 'Rex "the\n\u2028dog", 1st', categoryId: INT64_MAX },
    { id: 2n, name: ' Tom', categoryId: 1n },
    { id: 3n, name: 'Tom ', categoryId: 1n },
    { id: INT64_MAX, name: ' \r', categoryId: INT64_MIN, status: 'sold' },
  ];
  const texts = {
    ndjson: [
      '{"id":1,"name":"Rex \\"the\\n\u2028dog\\", 1st","categoryId":9223372036854775807}\n',
      '{"id":2,"name":" Tom","categoryId":1}\n{"id":3,"name":"Tom ","categoryId":1}\n',
      '{"id":9223372036854775807,"name":" \\r","categoryId":-9223372036854775808,"status":"sold"}\n',
    ].join(''),
    json: [
      '[\n{"id":1,"name":"Rex \\"the\\n\u2028dog\\", 1st","categoryId":9223372036854775807},\n',
      '{"id":2,"name":" Tom","categoryId":1},\n{"id":3,"name":"Tom ","categoryId":1},\n',
      '{"id":9223372036854775807,"name":" \\r","categoryId":-9223372036854775808,"status":"sold"}\n]\n',
    ].join(''),
    csv: [
      'id,name,categoryId,status\n1,"Rex ""the\n\u2028dog"", 1st",9223372036854775807,\n',
      '2," Tom",1,\n3,"Tom ",1,\n',
      '9223372036854775807," \r",-9223372036854775808,sold\n',
    ].join(''),
  };
  for (const [ending, text] of Object.entries(texts)) {
    test(`pets export › pets to ${ending} › are written to the letter`, async () => {
      const file = join(folder, `letter.${ending}`);
      await writePets({ file }, iterate(pets), new PassThrough());
      assert.equal(await readFile(file, 'utf8'), text);
    });
  }

  test('pets export › without a file › writes NDJSON to standard output', async () => {
    const stdout = new PassThrough();
    await writePets({}, iterate(pets), stdout);
    assert.equal(stdout.setEncoding('utf8').read(), texts.ndjson);
  });

  test('pets export › a format that is named › is written, to a file and to standard output', async () => {
    const file = join(folder, 'named.json');
    await writePets({ file, format: 'csv' }, iterate(pets), new PassThrough());
    assert.equal(await readFile(file, 'utf8'), texts.csv);
    const stdout = new PassThrough();
    await writePets({ format: 'csv' }, iterate(pets), stdout);
    assert.equal(String(stdout.read()), texts.csv);
  });

  test('pets export › that fails › leaves the old file and nothing else', async () => {
    const inner = createProcessFolder();
    const file = join(inner, 'pets.csv');
    await writeFile(file, 'old');
    async function* failing(): AsyncGenerator<Pet> {
      for (let id = 0n; id < 10_000n; id += 1n) yield { id, name: 'Rex', categoryId: 1n };
      throw new Error('the database is gone');
    }
    await assert.rejects(writePets({ file }, failing(), new PassThrough()), /the database is gone/);
    assert.deepEqual(await readdir(inner), ['pets.csv']);
    assert.equal(await readFile(file, 'utf8'), 'old');
    await writePets({ file }, iterate(pets), new PassThrough());
    assert.equal(await readFile(file, 'utf8'), texts.csv);
  });

  test('pets export › to a place where no file can be › says so in one line', async () => {
    const missing = join(folder, 'no', 'pets.csv');
    await refuses(
      () => writePets({ file: missing }, iterate(pets), new PassThrough()),
      `${missing} cannot be written: no such file or directory`,
    );
    await refuses(
      () => writePets({ file: 'pets.txt' }, iterate(pets), new PassThrough()),
      /must end with one of/,
    );
  });

  /** As many pets as are asked for, and how many that were. */
  function endless(): { pets: AsyncGenerator<Pet>; taken: () => number } {
    let taken = 0;
    async function* generate(): AsyncGenerator<Pet> {
      for (; ; taken += 1) yield { id: BigInt(taken), name: 'Rex', categoryId: 1n };
    }
    return { pets: generate(), taken: () => taken };
  }

  test('pets export › to a reader that has gone › ends quietly', async () => {
    const { pets: source } = endless();
    let writes = 0;
    const stdout = new Writable({
      write(_chunk, _encoding, done) {
        writes += 1;
        done(writes < 3 ? null : Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
      },
    });
    await writePets({}, source, stdout);
    assert.equal(writes, 3);
  });

  test('pets export › to a slow reader › takes no more pets than are read', async () => {
    const { pets: source, taken } = endless();
    const stdout = new Writable({ write: () => {} });
    void writePets({}, source, stdout);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const before = taken();
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(taken(), before);
    assert.ok(before < 10_000);
  });
});
