/** Exact integers in JSON. `JSON.parse` rounds an int64, and Node 20 has no `context.source`. */

import { createInvalidAnswer, PetstoreClientError } from './client-error.ts';
import { FIELD_KINDS, type NewPetFields, type PetFields } from './interface.ts';

/** What makes an integer of its digits, by the option `integers`. */
const FROM_DIGITS = { bigint: BigInt, number: Number, string: String };
export type IntegerKind = keyof typeof FROM_DIGITS;
export const INTEGER_KINDS = Object.keys(FROM_DIGITS);

/** An integer to send: a bigint, an exact number, or the digits of an integer. */
export type Integer = bigint | number | string;

/** A pet of the store. */
export type Pet<Integers extends IntegerKind = 'bigint'> = PetFields<
  ReturnType<(typeof FROM_DIGITS)[Integers]>
>;
/** A pet to add. */
export type NewPet = NewPetFields<Integer>;

const INTEGER = /^(?:0|-?[1-9]\d{0,18})$/;
/** It also matches a string without an end, so that no byte is read twice. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d[\d.eE+-]*/gs;

/** The value of a JSON text with each number as its digits; undefined if the text is not JSON. */
export function findJson(text: string): unknown {
  try {
    return JSON.parse(
      text.replace(STRING_OR_NUMBER, (token) => (token.startsWith('"') ? token : `"${token}"`)),
    );
  } catch {
    return undefined;
  }
}

/** @param value a value of {@link findJson}. */
export function toPet<Integers extends IntegerKind>(
  value: unknown,
  integers: Integers,
  response: Response,
): Pet<Integers> {
  const members = Object(value);
  const pet: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(FIELD_KINDS)) {
    const member = members[name];
    if (member === undefined) continue;
    pet[name] = kind === 'int64' ? toInteger(name, member, integers, response) : member;
  }
  if (pet.id === undefined) throw createInvalidAnswer(response);
  return pet as unknown as Pet<Integers>;
}

function toInteger(name: string, digits: string, integers: IntegerKind, response: Response) {
  if (!INTEGER.test(digits)) throw createInvalidAnswer(response);
  if (integers !== 'number' || Number.isSafeInteger(Number(digits))) {
    return FROM_DIGITS[integers](digits);
  }
  const message = `${name} ${digits} is not exact as a number: use integers 'bigint' or 'string'`;
  throw new PetstoreClientError('inexact_integer', message, response);
}

/** The JSON text of a pet with the digits of its integers. @throws TypeError if an integer is not exact. */
export function toJson(pet: NewPet & { readonly id?: Integer }): string {
  const values: Readonly<Record<string, unknown>> = { ...pet };
  const members: string[] = [];
  for (const [name, kind] of Object.entries(FIELD_KINDS)) {
    const value = values[name];
    if (value === undefined) continue;
    members.push(`"${name}":${kind === 'int64' ? toDigits(name, value) : JSON.stringify(value)}`);
  }
  return `{${members.join()}}`;
}

/** @throws TypeError if the value is not an exact integer. */
export function toDigits(name: string, value: unknown): string {
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'string' && INTEGER.test(value)) return value;
  const kinds = 'a bigint, a number up to 2^53 - 1, or a string of digits such as "7"';
  throw new TypeError(`${name} must be ${kinds}`);
}
