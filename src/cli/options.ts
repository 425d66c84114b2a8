/** The options of the command line: the flag, the default and the parser of each, and which have a variable. */

import { InvalidArgumentError, Option } from 'commander';
import { ENVIRONMENTS } from '../api-key.ts';
import { PetstoreError } from '../error.ts';
import { findCanonicalInt64 } from '../int64.ts';
import {
  NEW_PET_FIELDS,
  type NewPetField,
  PAGE_LIMIT_DEFAULT,
  PET_FILTERS,
  parseFieldText,
} from '../pet.ts';
import { count, DATABASE, type OptionRow } from '../service/option-kinds.ts';
import { SERVE_OPTIONS } from '../service/serve-options.ts';
import { UNPRINTABLE } from './output.ts';
import { PET_FORMATS } from './pet-file/pet-file.ts';

const GENERATED_MAX = 1_000_000_000;
const SEED_MAX = 4_294_967_295;
const BACKUPS_MAX = 1_000_000;
const DURATION_DAYS_MAX = 36_500;
const LISTED_PETS_MAX = 1_000;

const DAY_MS = 86_400_000;
const MS_OF_UNIT: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS };

/** A use of the command line that is wrong, told in words of our own and not of commander. */
export class UsageError extends Error {}

/** The name of the variable of an option, such as PETSTORE_DATABASE for --database. */
export function toVariable(option: Option): string {
  return `PETSTORE_${option.name().replaceAll('-', '_').toUpperCase()}`;
}

function toOption(name: string, row: OptionRow): Option {
  const { value, description, default: usual, choices, parse, isSecret } = row;
  const made = new Option(`--${toKebabCase(name)} ${value}`, description);
  if (usual !== undefined) made.default(usual, Array.isArray(usual) ? String(usual) : undefined);
  if (value.startsWith('[')) made.preset('true');
  const toSecretError = (message: string) =>
    new UsageError(`option '${made.flags}', or ${made.envVar}: ${message}`);
  if (parse !== undefined) made.argParser(translate(parse, isSecret ? toSecretError : undefined));
  return choices === undefined ? made : made.choices(choices);
}

/**
 * An option that configures: it also has a variable, and the flag takes precedence. Every other option is a value of
 * one call, and has none: a left-over PETSTORE_NAME would name a pet.
 */
function toSetting(name: string, row: OptionRow): Option {
  const made = toOption(name, row);
  return made.env(toVariable(made));
}

/** The parser, whose refusals become errors of the command line. */
function translate<Value>(
  parse: (text: string) => Value,
  toError: (message: string) => Error = (mustBe) => new InvalidArgumentError(`It ${mustBe}.`),
): (text: string) => Value {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      throw error instanceof PetstoreError ? toError(error.message) : error;
    }
  };
}

function toKebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export const databaseOption = () => toSetting('database', SERVE_OPTIONS.database);

/** The option of all commands; see `loadVariables` in variables.ts. */
export const envFileOption = () =>
  toSetting('envFile', {
    value: '<file>',
    description: 'read variables from the file; variables that are already set take precedence',
  });

export const copyOptions = () => [
  toSetting('from', { ...DATABASE, description: 'the store to copy' }).makeOptionMandatory(),
  toSetting('to', {
    ...DATABASE,
    description: 'an empty store, or one that does not exist yet',
  }).makeOptionMandatory(),
  new Option(
    '--environment <name>',
    'copy only the keys of this environment, to move the pets into it',
  ).choices(ENVIRONMENTS),
];

export const environmentOption = () => toSetting('environment', SERVE_OPTIONS.environment);

export const baseUrlOption = () => toSetting('baseUrl', SERVE_OPTIONS.baseUrl);

export const formatOption = () =>
  new Option('--format <format>', 'the format, whatever the ending of the file').choices(
    PET_FORMATS,
  );

export const importOptions = () => [
  new Option('--keep-ids', 'keep the ids of the file, and refuse it if the store has one of them'),
  new Option(
    '--skip-existing',
    'with --keep-ids, leave out pets that the store has with the same content',
  ),
];

export const countOption = () =>
  toOption('count', {
    ...count(0, GENERATED_MAX),
    description: 'the number of pets',
    default: 100,
  });

export const seedOption = () =>
  toOption('seed', {
    ...count(0, SEED_MAX, '<number>'),
    description: 'which pets: the same number gives the same ones',
    default: 1,
  });

export const serveOptions = () =>
  Object.entries(SERVE_OPTIONS).map(([name, row]) => toSetting(name, row));

export const dryRunOption = () =>
  new Option('--dry-run', 'only say what would be done').default(false);

export const keepOption = () =>
  toOption('keep', {
    ...count(1, BACKUPS_MAX),
    description:
      'make a dated backup in the directory <file>, and keep this many of the newest ones',
  });

export const jsonOption = () => new Option('--json', 'as JSON').default(false);

export const nameOption = () =>
  new Option('--name <name>', 'the name of the key, such as who uses it')
    .makeOptionMandatory()
    .argParser(parseKeyName);

export const expiresOption = () =>
  new Option(
    '--expires <duration>',
    'how long the key is valid, such as 90d, 24h, 30m or 60s (default: for ever)',
  ).argParser((text: string) => parseDuration(text, 1));

export const readOnlyOption = () =>
  new Option('--read-only', 'the key may list and get pets, but not add any').default(false);

export const overlapOption = () =>
  new Option('--overlap <duration>', 'how long the old key still works, such as 24h, 30m or 0s')
    .default(DAY_MS, '24h')
    .argParser((text: string) => parseDuration(text, 0));

export const petListOptions = () => [
  ...PET_FILTERS.map((filter) => fieldOption(filter, 'only pets of this')),
  toOption('limit', {
    ...count(1, LISTED_PETS_MAX),
    description: 'the most pets to list',
    default: PAGE_LIMIT_DEFAULT,
  }),
  new Option('--after <id>', 'only pets with a greater id').argParser(parseAfter),
];

export const newPetOptions = () =>
  NEW_PET_FIELDS.map((field) => fieldOption(field).makeOptionMandatory(!field.optional));

export const petChangeOptions = () =>
  NEW_PET_FIELDS.flatMap((field) => {
    const made = fieldOption(field);
    if (!field.optional) return [made];
    return [made, new Option(`--no-${made.name()}`, `no ${field.name} any more`)];
  });

function fieldOption(field: NewPetField, words = "the pet's"): Option {
  const { name, kind, schema } = field;
  const choices = schema.enum === undefined ? '' : `: ${schema.enum.join(', ')}`;
  const flags = `--${toKebabCase(name)} <${kind}>`;
  return new Option(flags, `${words} ${name}${choices}`).argParser(
    translate(
      (text) => parseFieldText(field, text),
      (message) => new InvalidArgumentError(message),
    ),
  );
}

function parseAfter(text: string): bigint {
  const id = findCanonicalInt64(text);
  if (id === undefined) throw new InvalidArgumentError('It must be the id of a pet, such as 7.');
  return id;
}

export function parsePetId(text: string): bigint {
  const id = findCanonicalInt64(text);
  if (id === undefined) throw createIdError('pet', text);
  return id;
}

export function parseKeyId(text: string): number {
  const id = Number(findCanonicalInt64(text));
  if (id >= 1 && Number.isSafeInteger(id)) return id;
  throw createIdError('key', text);
}

function createIdError(what: string, text: string): UsageError {
  return new UsageError(`Invalid ${what} id '${text}': expected a number such as 7.`);
}

function parseKeyName(text: string): string {
  if (text.length <= 100 && text.trim() !== '' && text.search(UNPRINTABLE) === -1) return text;
  throw new InvalidArgumentError('It must be 1 to 100 characters, not blank, on one line.');
}

/** A duration in milliseconds, of at least `secondsMin` seconds. */
function parseDuration(text: string, secondsMin: number): number {
  const [, count, unit = ''] = /^(\d{1,12})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (MS_OF_UNIT[unit] ?? Number.NaN);
  if (ms >= secondsMin * 1_000 && ms <= DURATION_DAYS_MAX * DAY_MS) return ms;
  throw new InvalidArgumentError(
    `It must be a number and its unit, such as 90d, 24h, 30m or 60s: at least ${secondsMin}s, at most ${DURATION_DAYS_MAX}d.`,
  );
}
