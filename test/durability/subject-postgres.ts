/** Services on PostgreSQL whose processes can be killed. */

import assert from 'node:assert/strict';
import * as petstore from '../outages/petstore.ts';
import { listChildren } from '../support/children.ts';
import { queryOnce } from '../support/postgres-cluster.ts';
import {
  killAll,
  type Random,
  SERVE,
  type Subject,
  toStoredPet,
  waitUntilReady,
} from './subject.ts';

/** Services on a durable server; the server is killed or, of several services, one of them. */
export async function startOnPostgres(replicas: number, random: Random): Promise<Subject> {
  const cluster = await petstore.startDatabase();
  const address = petstore.toAddress([petstore.toHost(cluster)]);
  const start = () => petstore.startReplica(address, SERVE);
  const first = await start();
  const services = [first];
  while (services.length < replicas) services.push(await start());

  return {
    random,
    key: first.key,
    get ports() {
      return services.map(({ port }) => port);
    },
    async strike() {
      const replica = Math.floor(random() * services.length);
      if (replicas > 1 && random() < 1 / 2) {
        services[replica]?.process.kill('SIGKILL');
        services[replica] = await start();
      } else {
        const children = await listChildren(cluster.pid);
        // The parent first, so that it does not start a recovery.
        const stopped = cluster.stop('SIGKILL');
        // A process that is only stopped would answer first.
        if (random() < 1 / 2) killAll(children);
        await stopped;
        await cluster.start();
      }
      await Promise.all(services.map(({ port }) => waitUntilReady(port)));
    },
    async readStored(after) {
      const sql = `select id, name, status from pets where id > ${after} order by id`;
      const { rows } = await queryOnce(cluster.url('petstore'), sql);
      return rows.map(toStoredPet);
    },
    assertSound() {
      for (const { process, output } of services) {
        assert.equal(process.exitCode ?? process.signalCode, null, output.stderr);
      }
    },
    async [Symbol.asyncDispose]() {
      for (const service of services) await service[Symbol.asyncDispose]();
      await cluster[Symbol.asyncDispose]();
    },
  };
}
