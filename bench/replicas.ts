/** Scenarios of creates on 1 to 8 replicas, whose commits wait for a synchronous standby. */

import { queryOnce, startCluster } from '../test/support/postgres-cluster.ts';
import { until } from '../test/support/until.ts';
import { load } from './load.ts';
import { type Contender, type Sample, takeTurns } from './measure.ts';
import type { Bench, Scenario, Threshold } from './scenario.ts';
import type { Server } from './servers.ts';
import { check, create } from './workloads.ts';
import { CREATES, startOnPostgres } from './writes.ts';

const PETS = 20;
const CLIENTS = 64;
const REPLICAS = [1, 2, 4, 8];
/** Each of as many replicas has CLIENTS. */
const CROWDED = 8;
const crowd = (kind: string) => `${CROWDED} replicas with ${CLIENTS} clients each, ${kind}`;
const toName = (count: number, kind: string) =>
  `${count} replica${count === 1 ? '' : 's'}, ${kind}`;

/** @param atLeast of the creates of one replica, with the same clients in all. */
function toScenario(
  name: string,
  delayMs: number,
  atLeast: Readonly<Record<number, number>>,
  ofCrowd?: number,
): Scenario {
  const thresholds = Object.keys(CREATES).flatMap((kind): Threshold[] => {
    const beside = toName(1, kind);
    return [
      ...Object.entries(atLeast).map(([count, share]) => ({
        of: toName(Number(count), kind),
        beside,
        atLeast: share,
      })),
      ...(ofCrowd === undefined ? [] : [{ of: crowd(kind), beside, atLeast: ofCrowd }]),
      ...REPLICAS.map((count) => ({
        of: toName(count, kind),
        unit: 'refused' as const,
        atMost: 0,
      })),
    ];
  });
  return {
    name,
    title: `Creates of ${CLIENTS} clients in all, while a standby applies ${delayMs} ms late`,
    unit: 'requests/s',
    thresholds,
    run: (bench) => run(bench, delayMs, ofCrowd !== undefined),
  };
}

export const replicas = toScenario('replicas', 10, { 2: 0.9, 4: 0.8, 8: 0.6 });
export const replicasFarStandby = toScenario(
  'replicas-far-standby',
  45,
  { 2: 0.95, 4: 0.95, 8: 0.95 },
  5,
);

async function run({ datasets, pace }: Bench, delayMs: number, hasCrowd: boolean) {
  await using stack = new AsyncDisposableStack();
  const primary = stack.use(await startCluster({ durable: true }));
  const dataset = await datasets.createIn(primary, PETS);
  const settings = { recovery_min_apply_delay: `${delayMs}ms` };
  stack.use(await primary.startStandby({ durable: true, settings }));
  for (const setting of ["synchronous_standby_names = '*'", 'synchronous_commit = remote_apply']) {
    await queryOnce(primary.url(), `alter system set ${setting}`);
  }
  await queryOnce(primary.url(), 'select pg_reload_conf()');
  const isSynchronous = "select from pg_stat_replication where sync_state = 'sync'";
  await until(async () => (await queryOnce(primary.url(), isSynchronous)).rowCount === 1);
  const servers: Server[] = [];
  while (servers.length < CROWDED) servers.push(stack.use(await startOnPostgres(dataset)));
  for (const server of servers) await check(create, server);
  const contenders = Object.keys(CREATES).flatMap((kind): Contender[] => [
    ...REPLICAS.map((count) => ({
      name: toName(count, kind),
      measure: (seconds: number) =>
        createOn(servers.slice(0, count), CLIENTS / count, kind, seconds),
    })),
    ...(hasCrowd
      ? [
          {
            name: crowd(kind),
            measure: (seconds: number) => createOn(servers, CLIENTS, kind, seconds),
          },
        ]
      : []),
  ]);
  return await takeTurns(contenders, pace);
}

/** Loads all servers at once. */
async function createOn(
  servers: readonly Server[],
  clients: number,
  kind: string,
  seconds: number,
): Promise<Sample> {
  const samples = await Promise.all(
    servers.map((server) => {
      const script = CREATES[kind]?.();
      const creates = { clients, path: '/pets', mayRefuse: true, ...(script && { script }) };
      return load(server, creates, seconds);
    }),
  );
  const sum = (unit: 'requests/s' | 'refused') =>
    samples.reduce((total, sample) => total + sample[unit], 0);
  return { 'requests/s': sum('requests/s'), refused: sum('refused') };
}
