/** Events of a cluster, each under the load of two replicas by each of three ways to its leader, all at once. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { endure } from '../outages/endure.ts';
import { ALL_ANSWERED } from '../outages/load.ts';
import * as petstore from '../outages/petstore.ts';
import { BUSY, HANG_MS } from '../support/hang.ts';
import { queryOnce } from '../support/postgres-cluster.ts';
import { type PatroniCluster, startPatroni } from './patroni.ts';

const BEFORE_MS = 500;
/** So long after a node takes writes, all is as before the event. */
const SETTLED_SECONDS = 10;
/** The default, on a machine that is not busy. */
const ARGS = ['--database-timeout', (0.9 * BUSY).toFixed(1)];
/** Of each replica. The processors are busy: an answer may take long, but not too long for a client. */
const LOAD = {
  ...{ clients: 4, readers: 1, pauseMs: 100, answerMsMax: HANG_MS },
  ...{ checkMs: SETTLED_SECONDS * 1_000, awayMs: 3_000 * BUSY, expected: ALL_ANSWERED },
};

/** A way to the leader, with a database of the same name. */
export interface Way {
  readonly name: string;
  readonly hosts: readonly string[];
}

export type Scene = PatroniCluster &
  Awaited<ReturnType<PatroniCluster['untilWhole']>> & { readonly ways: readonly Way[] };

/** What causes an event, and what ends it; `isNew` if another node must lead meanwhile. */
export interface Event {
  /** Before the load. */
  readonly prepare?: (scene: Scene) => unknown;
  readonly cause: (scene: Scene) => unknown;
  readonly isNew?: boolean;
  readonly end?: (scene: Scene) => unknown;
  /** After the load. */
  readonly check?: (scene: Scene) => unknown;
}

/** The address of the service, without a parameter. */
export const toAddress = ({ name, hosts }: Way, database = name) =>
  petstore.toAddress(hosts).replace(/[^/]+$/, database);

export async function switchOver({ control, findLeader, leader, sync }: Scene): Promise<void> {
  await control('switchover', '--leader', leader.name, '--candidate', sync.name);
  await findLeader(leader);
}

/** Tries all events on one cluster; `findBin` finds its Patroni. */
export function tryEvents(
  events: Readonly<Record<string, Event>>,
  findBin?: () => Promise<string>,
): void {
  const stack = new AsyncDisposableStack();
  let cluster: PatroniCluster;
  const ways: (Way & { readonly replicas: petstore.Replicas })[] = [];
  before(async () => {
    cluster = stack.use(await startPatroni(await findBin?.()));
    const { leader } = await cluster.untilWhole();
    const run = (sql: string) => queryOnce(leader.url('postgres'), sql);
    await run(`create role petstore login password '${petstore.PASSWORD}'`);
    for (const [name, hosts] of [
      ['hosts', cluster.nodes.map(({ host }) => host)],
      ['haproxy', [cluster.balanced.plain]],
      ['haproxy_ending_sessions', [cluster.balanced.ending]],
    ] as const) {
      await run(`create database ${name} owner petstore`);
      const address = toAddress({ name, hosts });
      const replicas = stack.use(await petstore.startReplicas([address, address], ARGS));
      ways.push({ name, hosts, replicas });
    }
  });
  after(() => stack.disposeAsync());

  for (const [name, { prepare, cause, isNew, end, check }] of Object.entries(events)) {
    test(`cluster › ${name} › nothing is lost, doubled, stale or skipped, and ${SETTLED_SECONDS} s later all is answered`, async (t) => {
      const scene = { ...cluster, ...(await cluster.untilWhole()), ways };
      await prepare?.(scene);
      const begin = async () => {
        await sleep(BEFORE_MS);
        await cause(scene);
        await cluster.findLeader(isNew ? scene.leader : undefined);
      };
      const begun = begin();
      let ending: Promise<unknown> | undefined;
      const endOnce = () => {
        ending ??= Promise.resolve(end?.(scene));
        return ending;
      };
      const enduring = ways.map(({ name: way, replicas }) => {
        const diagnostic = (text: string) => t.diagnostic(`${way}: ${text}`);
        const outage = () => begun.then(() => endOnce);
        return endure({ diagnostic }, replicas, { ...LOAD, name, outage });
      });
      const ended = await Promise.allSettled(enduring);
      const failed = ended.filter(({ status }) => status === 'rejected');
      assert.deepEqual(failed, []);
      t.diagnostic(`${ways.map(({ replicas }) => replicas.created.size)} acknowledged so far`);
      // Without anybody's help.
      await cluster.untilWhole();
      await check?.(scene);
    });
  }
}
