/** What the options of the command line share: their variables, their parsers, and the options of several commands. */

import { InvalidArgumentError, Option } from 'commander';
import { badRequest, PetstoreError } from '../error.ts';
import { count, type OptionKind, type OptionRow } from '../option.ts';
import { NEW_PET_FIELDS, type NewPetField } from '../pet.ts';
import { type JsonSchema, toFieldValue } from '../pet-field.ts';
import { LIST_QUERY } from '../pet-query.ts';
import { SERVE_OPTIONS } from '../service/serve-options.ts';
import { MEMORY_ADDRESS } from '../storage/address.ts';
import { PET_FORMATS } from './pet-file.ts';

/** A wrong use of the command line, with a message of our own instead of commander's. */
export class UsageError extends Error {}

export function toVariable(option: Option): string {
  return `PETSTORE_${option.name().replaceAll('-', '_').toUpperCase()}`;
}

/** An option that has a variable too. An option of one call has none: a left-over PETSTORE_NAME would name a pet. */
export function toSetting(name: string, row: OptionRow): Option {
  const { value, description, default: usual, choices } = row;
  const made = new Option(`--${toKebabCase(name)} ${value}`, description);
  made.env(toVariable(made));
  if (usual !== undefined) made.default(usual, Array.isArray(usual) ? String(usual) : undefined);
  return choices === undefined ? addParser(made, toParser(row)) : made.choices(choices);
}

function toParser<Value>({ find, mustBe }: OptionKind<Value>): (text: string) => Value {
  return (text) => {
    const found = find(text);
    if (found === undefined) throw new InvalidArgumentError(`It must be ${mustBe}.`);
    return found;
  };
}

/** Makes a PetstoreError an error of the command line. It does not repeat the value, which may hold a password. */
function addParser(option: Option, parse: (text: string) => unknown): Option {
  return option.argParser((text) => {
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof PetstoreError)) throw error;
      const variable = option.envVar === undefined ? '' : `, or ${option.envVar}`;
      throw new UsageError(`option '${option.flags}'${variable}: ${error.message}`);
    }
  });
}

function toKebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export const countParser = (min: number, max: number) => toParser(count(min, max));

export function createIdError(what: string, text: string): UsageError {
  return new UsageError(`Invalid ${what} id '${text}': expected a number such as 7.`);
}

/** The address of a store for a command. A store in memory would end with the command. */
export const STORE_ADDRESS = {
  ...SERVE_OPTIONS.database,
  find(text: string): string | undefined {
    if (text !== MEMORY_ADDRESS) return SERVE_OPTIONS.database.find(text);
    throw badRequest('sqlite::memory: keeps nothing: name a file');
  },
};

export const databaseOption = () => toSetting('database', STORE_ADDRESS);

export const environmentOption = () => toSetting('environment', SERVE_OPTIONS.environment);

export const serveOptions = () =>
  Object.entries(SERVE_OPTIONS).map(([name, row]) => toSetting(name, row));

export const formatOption = () =>
  new Option('--format <format>', 'the format, whatever the ending of the file').choices(
    PET_FORMATS,
  );

export const jsonOption = () => new Option('--json', 'print JSON').default(false);

/** The members of the query of a list except its limit: a command may list more pets than a request. */
export const listQueryOptions = () =>
  LIST_QUERY.filter(({ name }) => name !== 'limit').map((member) => {
    const words = member.description.slice(0, -1).replace(/^./, (first) => first.toLowerCase());
    return createPetOption(member, words, member.parse).default(member.schema.default);
  });

export const newPetOptions = () =>
  NEW_PET_FIELDS.map((field) => fieldOption(field).makeOptionMandatory(!field.optional));

export const petChangeOptions = () =>
  NEW_PET_FIELDS.flatMap((field) => {
    const made = fieldOption(field);
    if (!field.optional) return [made];
    return [made, new Option(`--no-${made.name()}`, `remove the ${field.name}`)];
  });

const fieldOption = (field: NewPetField) =>
  createPetOption(field, `the pet's ${field.name}`, (text) =>
    field.parse(toFieldValue(field, text), true),
  );

function createPetOption(
  { name, schema }: { readonly name: string; readonly schema: JsonSchema },
  words: string,
  parse: (text: string) => unknown,
): Option {
  const value = schema.format === 'int64' ? 'int64' : 'text';
  const choices = Array.isArray(schema.enum) ? `: ${schema.enum.join(', ')}` : '';
  return addParser(new Option(`--${toKebabCase(name)} <${value}>`, `${words}${choices}`), parse);
}
