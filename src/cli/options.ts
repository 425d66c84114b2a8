/** The options of the command line: the flag, the variable, the default and the parser of each. */

import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { InvalidArgumentError, Option } from 'commander';
import { ENVIRONMENTS } from '../api-key.ts';
import { PetstoreError } from '../error.ts';
import { findCanonicalInt64 } from '../int64.ts';
import { JsonNumber } from '../json.ts';
import { LOG_LEVELS } from '../log.ts';
import { NEW_PET_FIELDS, type NewPetField, PAGE_LIMIT_DEFAULT, PET_STATUSES } from '../pet.ts';
import { ADDRESS_FORMS, parseAddress } from '../storage/address.ts';
import { UNPRINTABLE } from './output.ts';
import { PET_FORMATS } from './pet-file/pet-file.ts';

const PORT_MAX = 65_535;
const DATABASE_CONNECTIONS_MAX = 1_000;
const CONNECTIONS_MAX = 1_000_000;
const WORKERS_MAX = 256;
const RATE_LIMIT_MAX = 1_000_000;
const GENERATED_MAX = 1_000_000_000;
const SEED_MAX = 4_294_967_295;
const BACKUPS_MAX = 1_000_000;
const DURATION_DAYS_MAX = 36_500;
const LISTED_PETS_MAX = 1_000;

const DAY_MS = 86_400_000;

const MS_OF_UNIT: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: DAY_MS,
};

/** A use of the command line that is wrong, told without commander, whose message would repeat the value. */
export class UsageError extends Error {}

/** An option that also has the variable PETSTORE_<OPTION>; the flag takes precedence. */
function option(flags: string, description: string): Option {
  const made = new Option(flags, description);
  return made.env(`PETSTORE_${made.name().replaceAll('-', '_').toUpperCase()}`);
}

/** An option whose value is the address of a store. */
function addressOption(flag: string, description: string): Option {
  const made = option(`${flag} <address>`, description);
  return made.argParser((text: string) => {
    try {
      parseAddress(text);
      return text;
    } catch {
      throw new UsageError(
        `option '${flag} <address>', or ${made.envVar}, must be ${ADDRESS_FORMS}`,
      );
    }
  });
}

export const databaseOption = () =>
  addressOption('--database', `the address of the store: ${ADDRESS_FORMS}`).default(
    'sqlite:petstore.db',
  );

/** The option of all commands; see `loadVariables` in variables.ts. */
export const envFileOption = () =>
  option('--env-file <file>', 'a file of variables; one that is set already wins');

/** The options of `copy`. */
export const copyOptions = () => [
  addressOption('--from', 'the store to copy').makeOptionMandatory(),
  addressOption('--to', 'an empty store, or one that does not exist yet').makeOptionMandatory(),
];

export const environmentOption = () =>
  option('--environment <name>', 'the environment, whose keys alone are accepted')
    .choices(ENVIRONMENTS)
    .default('staging');

export const baseUrlOption = () =>
  option('--base-url <url>', 'the outside address of the API, ending in /v1').argParser(
    parseBaseUrl,
  );

export const formatOption = () =>
  option('--format <format>', 'the format, whatever the ending of the file').choices(PET_FORMATS);

export const countOption = () =>
  option('--count <count>', 'the number of pets')
    .default(100)
    .argParser((text: string) => parseWhole(text, 0, GENERATED_MAX));

export const seedOption = () =>
  option('--seed <number>', 'which pets: the same number gives the same ones')
    .default(1)
    .argParser((text: string) => parseWhole(text, 0, SEED_MAX));

/** The options of `serve`, in the order of its help. */
export const serveOptions = () => [
  databaseOption(),
  option('--database-connections <count>', 'the most connections to PostgreSQL')
    .default(10)
    .argParser((text: string) => parseWhole(text, 1, DATABASE_CONNECTIONS_MAX)),
  option('--host <host>', 'the address to listen on').default('127.0.0.1').argParser(parseHost),
  option('--port <port>', 'the port to listen on; 0 takes any free one')
    .default(8080)
    .argParser(parsePort),
  option(
    '--admin-port <port>',
    'the port of /metrics, /livez and /readyz (default: none)',
  ).argParser(parsePort),
  option('--admin-host <host>', 'the address that this port is on')
    .default('127.0.0.1')
    .argParser(parseHost),
  option('--workers <count>', 'the number of processes; auto: one for each core')
    .default(1)
    .argParser(parseWorkers),
  option('--max-connections <count>', 'the most open connections of each process')
    .default(4096)
    .argParser((text: string) => parseWhole(text, 1, CONNECTIONS_MAX)),
  environmentOption(),
  baseUrlOption(),
  option('--log-level <level>', 'the lowest level that is logged')
    .choices(LOG_LEVELS)
    .default('info'),
  option(
    '--cors-origin <origins>',
    'the origins whose pages may read answers: *, or origins separated by commas',
  )
    .default(['*'], '*')
    .argParser(parseOrigins),
  option(
    '--rate-limit <count>',
    'the requests of a key in a second, in each process (default: not limited)',
  ).argParser(parseRate),
  option(
    '--rate-limit-burst <count>',
    'the requests of a key at once, in each process (default: those of a second)',
  ).argParser(parseRate),
  option(
    '--trust-proxy <addresses>',
    'the proxies whose X-Forwarded-For names the client: addresses or networks, separated by commas',
  )
    .default([], 'none')
    .argParser(parseNetworks),
  option('--retire-get-pet [boolean]', 'answer 410 on the deprecated GET /v1/pets/{petId}')
    .default(false)
    .preset('true')
    .argParser(parseBoolean),
];

export const keepOption = () =>
  option(
    '--keep <count>',
    'make a dated backup in the directory <file>, and keep so many of them (default: one backup, as <file>)',
  ).argParser((text: string) => parseWhole(text, 1, BACKUPS_MAX));

export const jsonOption = () =>
  option('--json [boolean]', 'as JSON').default(false).preset('true').argParser(parseBoolean);

export const nameOption = () =>
  option('--name <name>', 'the name of the key, such as who uses it')
    .makeOptionMandatory()
    .argParser(parseKeyName);

export const expiresOption = () =>
  option(
    '--expires <duration>',
    'how long the key is valid, as 90d, 24h, 30m or 60s (default: for ever)',
  ).argParser((text: string) => parseDuration(text, 1));

export const readOnlyOption = () =>
  option('--read-only [boolean]', 'the key may list and get pets, but not add any')
    .default(false)
    .preset('true')
    .argParser(parseBoolean);

export const overlapOption = () =>
  option('--overlap <duration>', 'how long the old key still works, as 24h, 30m or 0s')
    .default(DAY_MS, '24h')
    .argParser((text: string) => parseDuration(text, 0));

/** The options of `pets list`. */
export const petListOptions = () => [
  option('--status <status>', 'only pets of this status').choices(PET_STATUSES),
  option('--limit <count>', 'the most pets to list')
    .default(PAGE_LIMIT_DEFAULT)
    .argParser((text: string) => parseWhole(text, 1, LISTED_PETS_MAX)),
  option('--after <id>', 'only pets with a greater id').argParser(parsePetId),
];

/** The options of `pets add`. */
export const newPetOptions = () =>
  NEW_PET_FIELDS.map((field) => fieldOption(field, option).makeOptionMandatory(!field.optional));

/** The options of `pets update`; a variable that was left over would change a pet unasked, so they have none. */
export const petChangeOptions = () =>
  NEW_PET_FIELDS.flatMap((field) => {
    const made = fieldOption(field, (flags, description) => new Option(flags, description));
    if (!field.optional) return [made];
    return [made, new Option(`--no-${made.name()}`, `no ${field.name} any more`)];
  });

/** The option of a pet's field, with the parser that requests have. */
function fieldOption({ name, kind, parse }: NewPetField, create: typeof option): Option {
  const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const choices = name === 'status' ? `: ${PET_STATUSES.join(', ')}` : '';
  return create(`--${flag} <${kind}>`, `the ${name} of the pet${choices}`).argParser(
    (text: string) => {
      try {
        return parse(kind === 'int64' ? new JsonNumber(text) : text);
      } catch (error) {
        throw error instanceof PetstoreError ? new InvalidArgumentError(error.message) : error;
      }
    },
  );
}

/** A pet's id as an argument. */
export function parsePetId(text: string): bigint {
  const id = findCanonicalInt64(text);
  if (id === undefined) throw new InvalidArgumentError('It must be the id of a pet, as 7.');
  return id;
}

/** A key's id as an argument. */
export function parseKeyId(text: string): number {
  return parseWhole(text, 1, Number.MAX_SAFE_INTEGER);
}

function parseHost(text: string): string {
  if (/^[\w.:-]+$/.test(text)) return text;
  throw new InvalidArgumentError('It must be an IP address or the name of a host.');
}

function parseWorkers(text: string): number {
  return text === 'auto' ? availableParallelism() : parseWhole(text, 1, WORKERS_MAX);
}

function parseRate(text: string): number {
  return parseWhole(text, 1, RATE_LIMIT_MAX);
}

function parsePort(text: string): number {
  return parseWhole(text, 0, PORT_MAX);
}

function parseWhole(text: string, min: number, max: number): number {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
}

function parseBaseUrl(text: string): string {
  const url = URL.parse(text);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.href === text;
  if (isPlain && text.endsWith('/v1') && !/[?#@]/.test(text)) return text;
  throw new InvalidArgumentError(
    'It must be an http or https address that ends in /v1, as https://petstore.test/v1.',
  );
}

function parseOrigins(text: string): string[] {
  const origins = text.split(',').map((origin) => origin.trim());
  if (origins.every((origin) => origin === '*' || URL.parse(origin)?.origin === origin)) {
    return origins;
  }
  throw new InvalidArgumentError('It must be * or origins as https://shop.test, without a path.');
}

function parseNetworks(text: string): string[] {
  const networks = text.split(',').map((network) => network.trim());
  for (const network of networks) {
    const [, address = '', bits = '0'] = /^([\da-f:.]+)(?:\/(\d{1,3}))?$/i.exec(network) ?? [];
    const family = isIP(address);
    if (family !== 0 && Number(bits) <= (family === 4 ? 32 : 128)) continue;
    throw new InvalidArgumentError(
      'It must be IP addresses or networks, as 127.0.0.1 or 10.0.0.0/8, separated by commas.',
    );
  }
  return networks;
}

function parseBoolean(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new InvalidArgumentError('It must be true or false.');
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
    `It must be a number and its unit, as 90d, 24h, 30m or 60s: at least ${secondsMin}s, at most ${DURATION_DAYS_MAX}d.`,
  );
}
