/** What happens to a cluster of Debian's Patroni, planned and not. */

import { setTimeout as sleep } from 'node:timers/promises';
import { queryOnce } from '../support/postgres-cluster.ts';
import { until } from '../support/until.ts';
import { type Event, type Scene, switchOver, tryEvents } from './suite.ts';

const ETCD_AWAY_MS = 40_000;

/** When the data of a node was copied; undefined while the node does not run. */
async function findCopyTime({ url }: Scene['sync']): Promise<string | undefined> {
  const sql = "select cast(modification as text) as time from pg_stat_file('PG_VERSION')";
  const answer = await queryOnce(url('postgres'), sql).catch(() => undefined);
  return answer?.rows[0]?.time;
}

const EVENTS: Readonly<Record<string, Event>> = {
  'a switchover': { cause: switchOver, isNew: true },
  'a killed PostgreSQL': { cause: ({ leader }) => leader.machine.signal('SIGKILL', 'postgres') },
  'a killed leader with its Patroni': {
    cause: ({ leader }) => leader.machine.kill(),
    isNew: true,
    end: ({ leader }) => leader.machine.start(),
  },
  'patronictl restart': { cause: ({ control, leader }) => control('restart', leader.name) },
  'etcd away for 40 s': {
    async cause({ etcd }) {
      await etcd.kill();
      await sleep(ETCD_AWAY_MS);
      etcd.start();
    },
  },
  'a frozen standby': {
    async cause({ sync, findMember }) {
      sync.machine.signal('SIGSTOP');
      await until(async () => ![undefined, sync].includes(await findMember('sync_standby')));
    },
    end: ({ sync }) => sync.machine.signal('SIGCONT'),
  },
  'reinit of a member': {
    async cause({ control, sync }) {
      const old = await findCopyTime(sync);
      await control('reinit', sync.name);
      await until(async () => ![undefined, old].includes(await findCopyTime(sync)));
    },
  },
  'all restarted': {
    async cause({ etcd, nodes }) {
      const machines = [etcd, ...nodes.map(({ machine }) => machine)];
      await Promise.all(machines.map((machine) => machine.kill()));
      for (const machine of machines) machine.start();
    },
  },
};

tryEvents(EVENTS);
