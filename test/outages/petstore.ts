/** A real PostgreSQL with replicas of the real program, and the checks of their data at the end. */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BUSY } from '../support/hang.ts';
import { type Cluster, queryOnce, startCluster } from '../support/postgres-cluster.ts';
import { type RunningService, type RunOptions, startService } from '../support/program.ts';

/** How many replicas an outage meets, where the test does not say it. */
export const REPLICAS = Number(process.env.TEST_REPLICAS ?? 2);

/** Longer than any outage. */
const FOLLOW_MS_MAX = 300_000 * BUSY;

const USER = 'petstore';
export const PASSWORD = 's3cr3t-Passw0rd';

/** The user of the service needs its password; the superuser of the tests needs none. */
const PASSWORD_RULE = `host all ${USER} all scram-sha-256\n`;

/** An empty database `petstore` on a durable server, which the service's user owns. */
export async function startDatabase(
  settings: Readonly<Record<string, string>> = {},
): Promise<Cluster> {
  const cluster = await startCluster({ durable: true, settings });
  const rules = join(cluster.folder, 'data/pg_hba.conf');
  writeFileSync(rules, PASSWORD_RULE + readFileSync(rules, 'utf8'));
  await queryOnce(cluster.url(), 'select pg_reload_conf()');
  await queryOnce(cluster.url(), `create role ${USER} login password '${PASSWORD}'`);
  await queryOnce(cluster.url(), `create database petstore owner ${USER}`);
  return cluster;
}

/** What `--database` is for these hosts. */
export const toAddress = (hosts: readonly string[]) =>
  `postgres://${USER}:${PASSWORD}@${hosts}/petstore`;

export const toHost = ({ port }: { readonly port: number }) => `127.0.0.1:${port}`;

/** Where a service is, or the load balancer before it. */
interface Target {
  readonly url: string;
}

/** Services with the same pets. */
export interface Services {
  readonly services: readonly [Target, ...Target[]];
  readonly key: string;
  /** The name of each pet that was acknowledged, by its id. */
  readonly created: Map<number, string>;
}

export interface Replicas extends Services {
  readonly services: readonly [RunningService, ...RunningService[]];
}

/** Starts one replica for each address of the same database, which is empty, at once; then adds a pet. */
export async function startReplicas(
  addresses: readonly string[],
  args: readonly string[] = [],
  options: Partial<RunOptions> = {},
): Promise<Replicas & AsyncDisposable> {
  const starting = addresses.map((address) => startReplica(address, args, options));
  const services = (await Promise.all(starting)) as [RunningService, ...RunningService[]];
  const key = services.map((service) => service.key).join('');
  const created = new Map([[await create(services[0], key, 'first'), 'first']]);
  return {
    ...{ services, key, created },
    async [Symbol.asyncDispose]() {
      for (const service of services) await service[Symbol.asyncDispose]();
    },
  };
}

export function startReplica(
  address: string,
  args: readonly string[] = [],
  options: Partial<RunOptions> = {},
): Promise<RunningService> {
  return startService(args, { cwd: tmpdir(), ...options, env: { PETSTORE_DATABASE: address } });
}

/** For a connection of its own: nginx may close an idle one just when it is used again. */
export const toHeaders = (key: string) => ({ authorization: `Bearer ${key}`, connection: 'close' });

export const get = ({ url }: Target, key: string, path: string): Promise<Response> =>
  fetch(url + path, { headers: toHeaders(key) });

export function post({ url }: Target, key: string, body: string): Promise<Response> {
  const headers = { ...toHeaders(key), 'content-type': 'application/json' };
  return fetch(`${url}/v1/pets`, { method: 'POST', headers, body });
}

export async function create(service: Target, key: string, name: string): Promise<number> {
  const answer = await post(service, key, JSON.stringify({ name, categoryId: 1 }));
  const text = await answer.text();
  assert.equal(answer.status, 201, text);
  return JSON.parse(text).id;
}

/** All pets, by the pages that the service serves. */
export async function listAll(service: Target, key: string): Promise<[id: number, name: string][]> {
  const rows: [number, string][] = [];
  let path: string | undefined = '/v1/pets?limit=100';
  while (path !== undefined) {
    const answer: Response = await get(service, key, path);
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    for (const { id, name } of JSON.parse(text)) rows.push([id, name]);
    path = findNext(answer);
  }
  return rows;
}

/**
 * Reads on from the last cursor again and again; resolves to the ids that it met, once it has met the end after
 * `isDone`. A 503 is tried again. The pets of a page without a cursor are met again: each id counts once.
 */
export async function follow(
  service: Target,
  key: string,
  limit: number,
  isDone: () => boolean,
): Promise<Set<number>> {
  const ids = new Set<number>();
  let path = `/v1/pets?limit=${limit}`;
  for (const deadline = performance.now() + FOLLOW_MS_MAX; ; ) {
    assert.ok(performance.now() < deadline, 'the end of the list was never answered');
    const isLast = isDone();
    const answer = await get(service, key, path).catch(() => undefined);
    const text = await answer?.text().catch(() => undefined);
    if (answer?.status !== 200 || text === undefined) {
      await sleep(20);
      continue;
    }
    for (const { id } of JSON.parse(text)) ids.add(id);
    const next = findNext(answer);
    if (next === undefined && isLast) return ids;
    if (next === undefined) await sleep(20);
    path = next ?? path;
  }
}

function findNext({ headers }: Response): string | undefined {
  return /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
}

/** Every acknowledged pet is there with its id, and none twice. */
export async function assertKept({ services, key, created }: Services): Promise<void> {
  const kept = await listAll(services[0], key);
  const names = new Map(kept);
  assert.equal(names.size, kept.length, 'an id is there twice');
  assert.equal(new Set(names.values()).size, kept.length, 'a pet is there twice');
  for (const [id, name] of created) assert.equal(names.get(id), name, `the pet ${id}`);
}

/** The processes run on, and nothing that they wrote has the password. */
export function assertAliveAndSecret({ services }: Replicas): void {
  for (const { process, output } of services) {
    assert.equal(process.exitCode ?? process.signalCode, null, output.stderr);
    assert.ok(!(output.stdout + output.stderr).includes(PASSWORD), 'the password was written');
  }
}
