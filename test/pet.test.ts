/** Which values are pets, field by field. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { JsonNumber, parseJson } from '../src/json.ts';
import { NEW_PET_FIELDS, type NewPet, parseNewPet, toPetJson } from '../src/pet.ts';
import { int64, newPet, WHITE_SPACE } from './arbitraries.ts';

/** Values that no field may take: a column, a file of CSV or JSON would make another value of them. */
const NOT_KEPT = {
  text: ['', 'a\0b', '\ud800', 'a\udc00b', 'x'.repeat(256), null, 7n, ['Rex']],
  int64: ['7', null, true, [7n], new JsonNumber('1.5'), new JsonNumber('9223372036854775808')],
};

function parse(json: string): NewPet {
  return parseNewPet(parseJson(json));
}

for (const space of WHITE_SPACE) {
  const code = space.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  test(`parseNewPet › a name of U+${code} alone › is blank`, () => {
    assert.throws(() => parse(`{"name":${JSON.stringify(space)},"categoryId":7}`), {
      code: 'bad_request',
      message: /^name must be /,
    });
  });
}

for (const { name, kind, parse } of NEW_PET_FIELDS) {
  test(`${name} › a value that a column, a file or JSON would change › is refused`, () => {
    for (const value of NOT_KEPT[kind]) {
      assert.throws(
        () => parse(value),
        { code: 'bad_request', message: new RegExp(`^${name} must be `) },
        inspect(value),
      );
    }
  });
}

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
