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

const option = <Kind extends Omit<OptionRow, 'description'>, const Default = undefined>(
  kind: Kind,
  description: string,
  usual?: Default,
) => ({ ...kind, description, default: usual as Default });

/** In the order of the help. */
export const SERVE_OPTIONS = {
  database: option(DATABASE, `the address of the store: ${ADDRESS_FORMS}`, 'sqlite:petstore.db'),
  databaseConnections: option(count(1, 1_000), 'the most connections to PostgreSQL', 10),
  databaseTimeout: option(
    DATABASE_SECONDS,
    'how long a request waits for a connection to PostgreSQL, and then for each answer',
    0.9,
  ),
  startTimeout: option(
    count(0, 3_600, '<seconds>'),
    'how long the start waits for a PostgreSQL that is away',
    60,
  ),
  host: option(HOST, 'the address to listen on', '127.0.0.1'),
  port: option(PORT, 'the port to listen on; 0 takes any free one', 8080),
  adminPort: option(PORT, 'the port of /metrics, /livez and /readyz for the operator'),
  adminHost: option(HOST, 'the address of the admin port', '127.0.0.1'),
  workers: option(WORKERS, 'the number of processes; auto is one for each core', 1),
  maxConnections: option(count(1, 1_000_000), 'the most open connections of each process', 1024),
  environment: option(
    { value: '<name>', choices: ENVIRONMENTS },
    'the environment whose keys are accepted',
    'staging',
  ),
  baseUrl: option(BASE_URL, 'the address that clients see, ending in /v1; it makes links absolute'),
  logLevel: option(
    { value: '<level>', choices: LOG_LEVELS },
    'the lowest level that is logged',
    'info',
  ),
  corsOrigin: option(
    ORIGINS,
    'the origins whose pages may read answers: *, or origins separated by commas',
    ['*'],
  ),
  rateLimit: option(
    count(1, 1_000_000),
    'the requests of a key in a second, in each process; no limit by default',
  ),
  rateLimitBurst: option(
    count(1, 1_000_000),
    'the requests of a key at once, in each process; by default as many as in a second',
  ),
  trustProxy: option(
    NETWORKS,
    'the proxies whose X-Forwarded-For names the client: addresses or networks such as 10.0.0.0/8, separated by commas',
  ),
  seed: option(count(1, SEED_MAX), 'add so many sample pets to a new store, only in staging'),
  rehearse: option(
    SWITCH,
    'a request gets the failure that its Prefer names, only in staging',
    false,
  ),
  retireGetPet: option(SWITCH, 'answer 410 on the deprecated GET /v1/pets/{petId}', false),
};

type Rows = typeof SERVE_OPTIONS;

type Value<Row> = Row extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : Row extends { parse(text: string): infer Parsed }
    ? Parsed
    : never;

/** The values of the options of `serve`. An option without a default may be undefined. */
export type ServeOptions = {
  readonly [Name in keyof Rows]: Value<Rows[Name]> | Rows[Name]['default'];
};
