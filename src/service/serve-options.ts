/** The options of `serve`: those of the store, of requests, and of the running service itself. */

import { availableParallelism } from 'node:os';
import { REQUEST_OPTIONS } from '../http/options.ts';
import { LOG_LEVELS } from '../log.ts';
import { choice, count, type OptionValues, option } from '../option.ts';
import { STORE_OPTIONS } from '../storage/options.ts';

/** Sample pets are added before the service listens. For more pets there is `pets import`. */
const SEED_MAX = 10_000;

const HOST = {
  value: '<host>',
  mustBe: 'an IP address or the name of a host, or *',
  find: (text: string) => (/^(?:\*|[\w.:-]+)$/.test(text) ? text : undefined),
};

const PORT = count(0, 65_535, '<port>');

const PROCESSES = count(1, 256);

const WORKERS = {
  ...PROCESSES,
  find: (text: string) => (text === 'auto' ? availableParallelism() : PROCESSES.find(text)),
};

/** In the order of the help. */
export const SERVE_OPTIONS = {
  ...STORE_OPTIONS,
  host: option(HOST, 'the address to listen on; * is every address', '127.0.0.1'),
  port: option(PORT, 'the port to listen on; 0 takes any free one', 8080),
  adminPort: option(PORT, 'the port of /metrics, /livez and /readyz for the operator'),
  adminHost: option(HOST, 'the address of the admin port', '127.0.0.1'),
  workers: option(WORKERS, 'the number of processes; auto is one for each core', 1),
  logLevel: option(choice(LOG_LEVELS, '<level>'), 'the lowest level that is logged', 'info'),
  seed: option(count(1, SEED_MAX), 'add so many sample pets to a new store, only in staging'),
  ...REQUEST_OPTIONS,
};

export type ServeOptions = OptionValues<typeof SERVE_OPTIONS>;
