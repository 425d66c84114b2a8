/** Measures the creates that replicas on one PostgreSQL let through whose commits take some time. */

import { queryOnce } from '../test/support/postgres-cluster.ts';
import { Datasets } from './datasets.ts';
import { load } from './load.ts';
import { type Server, startPetstore, stayOnLoadCore } from './servers.ts';

export interface Measured {
  readonly clients: number;
  readonly replicas: number;
  readonly perSecond: number;
}

const REPLICAS = [1, 2, 4, 8];
const CLIENTS = [64, 256];
const SECONDS = 10;

/** The time is that of a synchronous standby; it passes in the commit, which holds the counter meanwhile. */
const HOLD = `create function hold() returns trigger language plpgsql
    as 'begin perform pg_sleep(0.0095); return null; end';
  create constraint trigger hold after update on counters deferrable initially deferred
    for each row execute function hold()`;

export async function measureQueue(): Promise<Measured[]> {
  stayOnLoadCore();
  await using datasets = new Datasets();
  const dataset = await datasets.createInPostgres(20);
  await using stack = new AsyncDisposableStack();
  const servers: Server[] = [];
  for (const _ of Array(Math.max(...REPLICAS)))
    servers.push(stack.use(await startPetstore(dataset)));
  await queryOnce(dataset.address, HOLD);
  const trials: Measured[] = [];
  for (const clients of CLIENTS) {
    for (const replicas of REPLICAS) {
      const creating = servers.slice(0, replicas).map((server) => {
        const options = {
          clients: clients / replicas,
          path: '/pets',
          script: ['create.lua'] as const,
        };
        return load(server, options, SECONDS);
      });
      const results = await Promise.all(creating);
      const count = results.reduce((sum, { requests }) => sum + requests, 0);
      trials.push({ clients, replicas, perSecond: count / SECONDS });
    }
  }
  return trials;
}
