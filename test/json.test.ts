/** Which JSON text is accepted, and that no digit of it is lost. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PetstoreError } from '../src/error.ts';
import { JsonNumber, parseJson } from '../src/json.ts';
import { anyCodePoint } from './arbitraries.ts';
import { measureCpuMs } from './support/cpu-time.ts';

/** Strings that look like structure to a parser that miscounts quotes. */
const TRAPS = ['{', '}', '"', '\\', '\\"', ':', '{"a":1', '":"', '\\\\', '"}', '\u2028', ''];

const numberText = fc.stringMatching(/^-?(?:0|[1-9]\d{0,39})(?:\.\d{1,40})?(?:[eE][+-]?\d{1,4})?$/);

const memberName = fc.oneof(
  fc.constantFrom('name', '__proto__', 'constructor', ...TRAPS),
  fc.string({ unit: anyCodePoint }),
);

/** A JSON text that contains `inner`, beside strings that look like structure. */
function surround(inner: string, depth: number, trap: string): string {
  const string = JSON.stringify(trap);
  let text = inner;
  for (let level = 0; level < depth; level += 1) {
    text = level % 2 === 0 ? `[${string}, ${text},${string}]` : `{ "a": ${string}, "b" : ${text} }`;
  }
  return text;
}

const escapeAll = (text: string) =>
  `"${text.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`;

function assertTwice(text: string, name: string): void {
  const message = `the member ${JSON.stringify(name)} is given twice`;
  assert.throws(() => parseJson(text), { name: 'PetstoreError', code: 'bad_request', message });
}

test('parseJson › a number however it is written › comes back digit for digit', () => {
  fc.assert(
    fc.property(numberText, (digits) => {
      const number = new JsonNumber(digits);
      assert.deepEqual(parseJson(digits), number);
      assert.deepEqual(parseJson(`[ ${digits},{"a":${digits}}]`), [number, { a: number }]);
      assert.deepEqual(parseJson(`{"a":${digits},"b":"e1"}`), { a: number, b: 'e1' });
    }),
  );
});

test('parseJson › any value without numbers rounded › is what JSON.parse gives', () => {
  const anyValue = fc.jsonValue({ stringUnit: anyCodePoint, maxDepth: 15 });
  const indent = fc.constantFrom(undefined, '\t', '\r\n  ');
  fc.assert(
    fc.property(anyValue, indent, (value, space) => {
      const text = JSON.stringify(value, undefined, space);
      const withDoubles = JSON.stringify(parseJson(text), (_name, member: unknown) =>
        member instanceof JsonNumber ? Number(member.digits) : member,
      );
      assert.equal(withDoubles, JSON.stringify(JSON.parse(text)));
    }),
  );
});

test('parseJson › strings that look like structure › are strings', () => {
  const members = Object.fromEntries(TRAPS.map((trap) => [trap, TRAPS]));
  assert.deepEqual(parseJson(JSON.stringify(members)), members);
  assert.deepEqual(parseJson(JSON.stringify(TRAPS.concat(TRAPS))), TRAPS.concat(TRAPS));
});

test('parseJson › a member given twice at any depth › is refused and named', () => {
  const value = fc.jsonValue({ maxDepth: 2 }).map((member) => JSON.stringify(member));
  const trap = fc.constantFrom(...TRAPS);
  fc.assert(
    fc.property(memberName, value, value, trap, fc.nat(6), (name, first, second, string, depth) => {
      const quoted = JSON.stringify(name);
      const between = `"b${name.length}b":${JSON.stringify(string)}`;
      const inner = `{${quoted}:${first},${between}, ${quoted}\n:${second}}`;
      assertTwice(surround(inner, depth, string), name);
    }),
  );
});

test('parseJson › a member given twice in two spellings › is refused', () => {
  assertTwice('{"\\/":1,"/":1}', '/');
  fc.assert(
    fc.property(memberName, (name) => {
      assertTwice(`{${escapeAll(name)}:1,${JSON.stringify(name)}:2}`, name);
    }),
  );
});

for (const text of [
  '{"a":{"a":[{"a":"a"},{"a":"a"}]},"b":{"a":["a","a"]}}',
  '{"a":"","A":"","a ":"","\u00e9":"","e\u0301":"","\\ud83d":"","\\ud83d\\udc36":""}',
  `[${'[],{},'.repeat(100)}[]]`,
]) {
  test(`parseJson › ${text.slice(0, 60)}, where nothing is too much › is taken`, () => {
    assert.deepEqual(parseJson(text), JSON.parse(text));
  });
}

test('parseJson › __proto__ › is an ordinary member', () => {
  const value = parseJson('{"__proto__":{"name":"Rex"}}');
  assert.ok(value instanceof Object);
  assert.deepEqual(Object.keys(value), ['__proto__']);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.equal('name' in value, false);
});

for (const [element, start, end, count] of [
  ['","', '[', ']', 1_000],
  ['1', '{"a":[', ']}', 999],
  ['{ }', '[ ', ']', 1_000],
  ['{"a": [ 7]}', '[', ' ]', 333],
] as const) {
  test(`parseJson › ${start}, ${count} times ${element}, and one more › is taken, is refused`, () => {
    const write = (length: number) => start + Array(length).fill(element) + end;
    assert.doesNotThrow(() => parseJson(write(count)));
    assert.throws(() => parseJson(write(count + 1)), {
      code: 'bad_request',
      message: 'the JSON must have at most 1000 values',
    });
  });
}

test('parseJson › 16 levels of objects and one more › is taken, is refused', () => {
  const write = (levels: number) => `${'{"a":'.repeat(levels)}"[{"${'}'.repeat(levels)}`;
  assert.deepEqual(parseJson(write(16)), JSON.parse(write(16)));
  const refusal = { code: 'bad_request', message: 'the JSON must have at most 16 levels' };
  for (const levels of [17, 60_000]) assert.throws(() => parseJson(write(levels)), refusal);
});

test('parseJson › 256 KiB of one repeated unit › take little CPU time', async () => {
  const structure = ['"', '\\"', '\\', '[', '{', '[]', '{}', ']', ',', ':', ' ', '\t'];
  const units = [...structure, '0', '-0', 'a', 'a:', '"":', '"a":1,', '"",', '" ', '1 '];
  for (const unit of units) {
    for (const [start, end] of [
      ['', ''],
      ['{"a":"', '"}'],
      ['[', ']'],
    ]) {
      const ms = await measureCpuMs(() => {
        try {
          parseJson(start + unit.repeat(262_144 / unit.length) + end);
        } catch (error) {
          if (!(error instanceof PetstoreError)) throw error;
        }
      });
      // It takes about 1 ms. If the time grew with the square of the length, it would take 30 s.
      assert.ok(ms < 5_000, `${start} ${unit} ${end}: ${ms} ms`);
    }
  }
});

for (const text of ['', '{"a":1', '{} {}', '1_000', '\ufeff{}', '\u00a0{}']) {
  test(`parseJson › the text ${JSON.stringify(text)} › is refused`, () => {
    assert.throws(
      () => parseJson(text),
      (error: PetstoreError) => {
        // The same mistake as JSON.parse finds, which the log has as the cause.
        assert.ok(error.cause instanceof SyntaxError);
        assert.equal(error.message, `not valid JSON: ${error.cause.message}`);
        return error.code === 'bad_request';
      },
    );
  });
}
