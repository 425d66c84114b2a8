/** Which values are pets, field by field. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { JsonNumber, parseJson } from '../src/json.ts';
import { type NewPet, PET_STATUSES, parseNewPet, parsePetStatus, toPetJson } from '../src/pet.ts';
import { int64, invalidNewPet, newPet, toJson, WHITE_SPACE } from './arbitraries.ts';

const DOG = '\u{1f436}';

function parse(json: string): NewPet {
  return parseNewPet(parseJson(json));
}

function parseNamed(text: string): NewPet {
  return parse(`{"name":${JSON.stringify(text)},"categoryId":7}`);
}

function assertRefused(json: string, field: string): void {
  assert.throws(() => parse(json), {
    name: 'PetstoreError',
    code: 'bad_request',
    message: new RegExp(`^${field} (?:is required|must be )`),
  });
}

test('parseNewPet › any valid pet › comes back as it was sent', () => {
  fc.assert(
    fc.property(newPet, (pet) => {
      assert.deepEqual(parse(toJson(pet)), { ...pet });
    }),
  );
});

test('parseNewPet › any pet with one wrong field › is refused and the field named', () => {
  fc.assert(
    fc.property(invalidNewPet, ({ json, field }) => {
      assertRefused(json, field);
    }),
  );
});

for (const [what, text] of [
  ['1 code point', 'x'],
  ['1 astral code point', DOG],
  ['255 code points', 'x'.repeat(255)],
  ['255 astral code points', DOG.repeat(255)],
  ['254 astral code points and a plain one', `${DOG.repeat(254)}x`],
  ['white space around it', ' \t\u3000Rex\u00a0\n'],
  ['254 spaces and a letter', `${' '.repeat(254)}x`],
  ['a combining mark alone', '\u0301'],
  ['a zero-width joiner alone, which is no white space', '\u200d'],
  ['a decomposed letter', 'e\u0301'],
  ['a composed letter', '\u00e9'],
  ['control characters', '\u0001\u001f\u007f'],
  ['markup', '<b>&amp;"\'\\</b>'],
  ['a word of JavaScript', '__proto__'],
] as const) {
  test(`parseNewPet › a name of ${what} › is kept as sent`, () => {
    assert.equal(parseNamed(text).name, text);
  });
}

for (const [what, text] of [
  ['no code point', ''],
  ['256 code points', 'x'.repeat(256)],
  ['256 astral code points', DOG.repeat(256)],
  ['255 astral code points and a plain one', `${DOG.repeat(255)}x`],
  ['256 code points, blank but for one', `${' '.repeat(255)}x`],
  ['60,000 code points', 'x'.repeat(60_000)],
  ['every white space and nothing else', WHITE_SPACE.join('')],
  ['U+0000 alone', '\0'],
  ['U+0000 in front', '\0Rex'],
  ['U+0000 at the end', 'Rex\0'],
  ['a first half of a pair', 'Rex\ud83d'],
  ['a second half of a pair', '\udc36Rex'],
  ['two halves in the wrong order', '\udc36\ud83d'],
] as const) {
  test(`parseNewPet › a name of ${what} › is refused`, () => {
    assertRefused(`{"name":${JSON.stringify(text)},"categoryId":7}`, 'name');
  });
}

for (const space of WHITE_SPACE) {
  const code = space.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  test(`parseNewPet › a name of U+${code} alone › is blank`, () => {
    assertRefused(`{"name":${JSON.stringify(space)},"categoryId":7}`, 'name');
  });
}

for (const json of ['null', '7', 'true', '["Rex"]', '{"length":3}', '{}']) {
  test(`parseNewPet › the name ${json}, which is no string › is refused`, () => {
    assertRefused(`{"name":${json},"categoryId":7}`, 'name');
  });
}

test('parseNewPet › a field that is absent › is required', () => {
  assert.throws(() => parse('{"categoryId":7}'), { message: 'name is required' });
  assert.throws(() => parse('{"name":"Rex"}'), { message: 'categoryId is required' });
  assert.throws(() => parse('{}'), { message: 'name is required' });
});

for (const [digits, categoryId] of [
  ['0', 0n],
  ['-1', -1n],
  ['1.0', 1n],
  ['1e2', 100n],
  ['9007199254740993', 9_007_199_254_740_993n],
  ['9223372036854775807', 2n ** 63n - 1n],
  ['-9223372036854775808', -(2n ** 63n)],
] as const) {
  test(`parseNewPet › the categoryId ${digits} › is ${categoryId}`, () => {
    assert.equal(parse(`{"name":"Rex","categoryId":${digits}}`).categoryId, categoryId);
  });
}

for (const json of [
  'null',
  'true',
  '"7"',
  '""',
  '[7]',
  '{"digits":"7"}',
  '1.5',
  '9007199254740992.5',
  '9223372036854775808',
  '-9223372036854775809',
  '1e400',
]) {
  test(`parseNewPet › the categoryId ${json} › is refused`, () => {
    assertRefused(`{"name":"Rex","categoryId":${json}}`, 'categoryId');
  });
}

for (const status of PET_STATUSES) {
  test(`parseNewPet › the status ${status} › is kept`, () => {
    assert.equal(parse(`{"name":"Rex","categoryId":7,"status":"${status}"}`).status, status);
  });
}

test('parseNewPet › an absent status › stays absent', () => {
  assert.deepEqual(Object.keys(parse('{"name":"Rex","categoryId":7}')), ['name', 'categoryId']);
});

for (const json of [
  'null',
  '""',
  '"Available"',
  '"SOLD"',
  '" sold"',
  '"sold "',
  '"lost"',
  '1',
  '["sold"]',
  '{}',
]) {
  test(`parseNewPet › the status ${json} › is refused`, () => {
    assertRefused(`{"name":"Rex","categoryId":7,"status":${json}}`, 'status');
  });
}

test('parseNewPet › other members, id among them › are ignored', () => {
  const others = '"id":0,"Name":"Tom","__proto__":{"status":"sold"},"tags":[{"name":null}]';
  assert.deepEqual(parse(`{${others},"name":"Rex","categoryId":7}`), {
    name: 'Rex',
    categoryId: 7n,
  });
});

test('parseNewPet › fields that only a prototype has › are absent', () => {
  assert.throws(() => parse('{"__proto__":{"name":"Rex","categoryId":7}}'), {
    message: 'name is required',
  });
});

for (const json of ['null', 'true', '"Rex"', '[]', '[{"name":"Rex","categoryId":7}]', '7']) {
  test(`parseNewPet › the value ${json}, which is no object › is refused as one`, () => {
    assert.throws(() => parse(json), {
      code: 'bad_request',
      message: 'a pet must be a JSON object',
    });
  });
}

test('parsePetStatus › anything but one of the three › is refused and the three named', () => {
  for (const value of [undefined, null, 'toString', '__proto__', 0, ['sold']]) {
    assert.throws(() => parsePetStatus(value), {
      code: 'bad_request',
      message: 'status must be one of available, pending, sold',
    });
  }
});

test('toPetJson › any pet › is JSON that is read as the same pet, to the last digit', () => {
  fc.assert(
    fc.property(int64, newPet, (id, pet) => {
      const json = toPetJson({ id, ...pet });
      assert.deepEqual(Object.entries(parseJson(json) as object), [
        ['id', new JsonNumber(String(id))],
        ['name', pet.name],
        ['categoryId', new JsonNumber(String(pet.categoryId))],
        ...(pet.status === undefined ? [] : [['status', pet.status]]),
      ]);
      assert.deepEqual(parse(json), { ...pet });
    }),
  );
});

test('toPetJson › a pet without a status › has no such member', () => {
  assert.equal(
    toPetJson({ id: 1n, name: 'R"ex\n', categoryId: -(2n ** 63n) }),
    '{"id":1,"name":"R\\"ex\\n","categoryId":-9223372036854775808}',
  );
});
