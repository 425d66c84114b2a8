/** What happens to a cluster of Debian's Patroni, planned and not. */

import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { type Event, switchOver, tryEvents } from './suite.ts';

const ETCD_AWAY_MS = 40_000;

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
      await sync.machine.signal('SIGSTOP');
      await until(async () => ![undefined, sync].includes(await findMember('sync_standby')));
    },
    end: ({ sync }) => sync.machine.signal('SIGCONT'),
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
