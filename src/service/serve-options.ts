/** The options of `serve`: the description, parser and default of each. */

import { ENVIRONMENTS } from '../api-key.ts';
import { LOG_LEVELS } from '../log.ts';
import { ADDRESS_FORMS } from '../storage/address.ts';
import {
  BASE_URL,
  count,
  DATABASE,
  DATABASE_SECONDS,
  HOST,
  NETWORKS,
  type OptionRow,
  ORIGINS,
  PORT,
  SWITCH,
  WORKERS,
} from './option-kinds.ts';

/** Sample pets are added before the service listens. For more pets there is `pets import`. */
const SEED_MAX = 10_000;

/** In the order of the help. */
export const SERVE_OPTIONS = {
  database: {
    ...DATABASE,
    description: `the address of the store: ${ADDRESS_FORMS}`,
    default: 'sqlite:petstore.db',
  },
  databaseConnections: {
    ...count(1, 1_000),
    description: 'the most connections to PostgreSQL',
    default: 10,
  },
  databaseTimeout: {
    ...DATABASE_SECONDS,
    description:
      'how long a request waits for a connection to PostgreSQL, and then for each answer',
    default: 0.9,
  },
  startTimeout: {
    ...count(0, 3_600, '<seconds>'),
    description: 'how long the start waits for a PostgreSQL that is away',
    default: 60,
  },
  host: { ...HOST, description: 'the address to listen on', default: '127.0.0.1' },
  port: { ...PORT, description: 'the port to listen on; 0 takes any free one', default: 8080 },
  adminPort: { ...PORT, description: 'the port of /metrics, /livez and /readyz for the operator' },
  adminHost: { ...HOST, description: 'the address of the admin port', default: '127.0.0.1' },
  workers: {
    ...WORKERS,
    description: 'the number of processes; auto is one for each core',
    default: 1,
  },
  maxConnections: {
    ...count(1, 1_000_000),
    description: 'the most open connections of each process',
    default: 4096,
  },
  environment: {
    value: '<name>',
    choices: ENVIRONMENTS,
    description: 'the environment whose keys are accepted',
    default: 'staging',
  },
  baseUrl: {
    ...BASE_URL,
    description: 'the address that clients see, ending in /v1; it makes links absolute',
  },
  logLevel: {
    value: '<level>',
    choices: LOG_LEVELS,
    description: 'the lowest level that is logged',
    default: 'info',
  },
  corsOrigin: {
    ...ORIGINS,
    description: 'the origins whose pages may read answers: *, or origins separated by commas',
    default: ['*'],
  },
  rateLimit: {
    ...count(1, 1_000_000),
    description: 'the requests of a key in a second, in each process; no limit by default',
  },
  rateLimitBurst: {
    ...count(1, 1_000_000),
    description:
      'the requests of a key at once, in each process; by default as many as in a second',
  },
  trustProxy: {
    ...NETWORKS,
    description:
      'the proxies whose X-Forwarded-For names the client: addresses or networks such as 10.0.0.0/8, separated by commas',
  },
  seed: {
    ...count(1, SEED_MAX),
    description: 'add so many sample pets to a new store, only in staging',
  },
  rehearse: {
    ...SWITCH,
    description: 'a request gets the failure that its Prefer names, only in staging',
    default: false,
  },
  retireGetPet: {
    ...SWITCH,
    description: 'answer 410 on the deprecated GET /v1/pets/{petId}',
    default: false,
  },
} as const satisfies Record<string, OptionRow>;

type Rows = typeof SERVE_OPTIONS;

type Value<Row> = Row extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : Row extends { parse(text: string): infer Parsed }
    ? Parsed
    : never;

type WithDefault = {
  [Name in keyof Rows]: Rows[Name] extends { readonly default: unknown } ? Name : never;
}[keyof Rows];

/** The values of the options of `serve`. */
export type ServeOptions = { readonly [Name in WithDefault]: Value<Rows[Name]> } & {
  readonly [Name in Exclude<keyof Rows, WithDefault>]?: Value<Rows[Name]>;
};
