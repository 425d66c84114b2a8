/** Which values are pets, field by field. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { JsonNumber, parseJson } from '../src/json.ts';
import { type NewPet, parseNewPet, toPetJson } from '../src/pet.ts';
import { int64, invalidNewPet, newPet, toJson, WHITE_SPACE } from './arbitraries.ts';

function parse(json: string): NewPet {
  return parseNewPet(parseJson(json));
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

for (const space of WHITE_SPACE) {
  const code = space.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  test(`parseNewPet › a name of U+${code} alone › is blank`, () => {
    assertRefused(`{"name":${JSON.stringify(space)},"categoryId":7}`, 'name');
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

test('toPetJson › a pet without a status › has no such member', () => {
  assert.equal(
    toPetJson({ id: 1n, name: 'R"ex\n', categoryId: -(2n ** 63n) }),
    '{"id":1,"name":"R\\"ex\\n","categoryId":-9223372036854775808}',
  );
});
