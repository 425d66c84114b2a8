/** Three nodes of PostgreSQL under Patroni, with etcd, and HAProxy before them. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { HANG_MS } from '../support/hang.ts';
import { findAccount, findPostgresBin, queryOnce } from '../support/postgres-cluster.ts';
import { getFreePort } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { startMachine } from './machine.ts';

/** 20 s is Patroni's least `ttl`; it must be at least `loop_wait` and twice `retry_timeout`. */
const DCS = { ttl: 20, loop_wait: 5, retry_timeout: 5, synchronous_mode: true };
const PARAMETERS = { max_connections: 200, wal_sender_timeout: '5s' };
const RULES = [
  'host all petstore 127.0.0.1/32 scram-sha-256',
  'host all,replication postgres 127.0.0.1/32 trust',
  'local all postgres trust',
];
const POSTGRES = { username: 'postgres' };
const ANSWER_MS_MAX = 1_000;
/** A node may have to wait for `ttl`, and to be copied anew. */
const CHANGE_MS_MAX = 3 * HANG_MS;

type Node = Awaited<ReturnType<typeof startNode>>;
export type PatroniCluster = Awaited<ReturnType<typeof startPatroni>>;
type Member = { readonly [name in 'name' | 'role' | 'state' | 'timeline']: string };

const getFreeHost = async () => `127.0.0.1:${await getFreePort()}`;

/** `bin` is the folder of Patroni; `await using` ends everything. Needs Debian's etcd-server and haproxy. */
export async function startPatroni(bin = '/usr/bin') {
  const folder = createProcessFolder();
  own(folder);
  const [client, peer] = [`http://${await getFreeHost()}`, `http://${await getFreeHost()}`];
  const etcd = startMachine(
    ...([join(folder, 'etcd.log'), 'etcd', '--data-dir', join(folder, 'etcd')] as const),
    ...[`--listen-client-urls=${client}`, `--advertise-client-urls=${client}`],
    ...[`--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`],
    `--initial-cluster=default=${peer}`,
  );
  const nodes: Node[] = [];
  for (const name of ['db1', 'db2', 'db3']) {
    nodes.push(await startNode(bin, folder, name, new URL(client).host));
  }
  const balanced = { plain: await getFreeHost(), ending: await getFreeHost() };
  const haproxy = startHaproxy(folder, nodes, balanced);

  async function listMembers(): Promise<readonly Member[]> {
    const text = (await askAll(nodes, '/cluster')).find((each) => each !== undefined);
    return text === undefined ? [] : JSON.parse(text).members;
  }

  function toNode(members: readonly Member[], asked: string): Node | undefined {
    const member = members.find(({ role }) => role === asked);
    return nodes.find(({ name }) => name === member?.name);
  }

  return {
    ...{ etcd, nodes, balanced },

    findMember: async (role: string) => toNode(await listMembers(), role),

    /** The node that takes writes, as soon as one does; another than this one, if it is given. */
    async findLeader(old?: Node): Promise<Node> {
      let leader: Node | undefined;
      await until(async () => {
        const answers = await askAll(nodes, '/primary');
        leader = nodes.find((node, index) => answers[index] !== undefined && node !== old);
        if (leader === undefined) return false;
        // Patroni may not know yet that its PostgreSQL is gone.
        return queryOnce(leader.url('postgres'), '').then(Boolean, () => false);
      }, CHANGE_MS_MAX);
      return leader as Node;
    },

    /** Resolves when all nodes run: to the leader and its synchronous standby. */
    async untilWhole() {
      let leader: Node | undefined;
      let sync: Node | undefined;
      await until(async () => {
        const members = await listMembers();
        leader = toNode(members, 'leader');
        sync = toNode(members, 'sync_standby');
        const isWhole =
          String(members.map(({ role }) => role).sort()) === 'leader,replica,sync_standby' &&
          members.every(({ timeline }) => timeline === members[0]?.timeline) &&
          members.every(({ state }) => ['running', 'streaming'].includes(state));
        if (!isWhole) return false;
        // Patroni may tell a standby that commits do not wait for yet, or any more.
        const waits = `select from pg_stat_replication
          where sync_state = 'sync' and application_name = '${sync?.name}'`;
        const { rowCount } = await queryOnce(leader?.url('postgres') ?? '', waits);
        return rowCount === 1;
      }, CHANGE_MS_MAX);
      return { leader: leader as Node, sync: sync as Node };
    },

    /** Runs patronictl. */
    control(command: string, ...args: readonly string[]) {
      const all = ['-c', join(folder, 'db1.yml'), command, '--force', 'petstore', ...args];
      return promisify(execFile)(join(bin, 'patronictl'), all);
    },

    async [Symbol.asyncDispose]() {
      for (const machine of [haproxy, ...nodes.map((node) => node.machine), etcd]) {
        await machine.kill();
      }
    },
  };
}

/** The text of each node's answer if it is 200. */
function askAll(nodes: readonly Node[], path: string): Promise<(string | undefined)[]> {
  const signal = AbortSignal.timeout(ANSWER_MS_MAX);
  const ask = async ({ api }: Node) => {
    const answer = await fetch(api + path, { signal });
    return answer.ok ? await answer.text() : undefined;
  };
  return Promise.all(nodes.map((node) => ask(node).catch(() => undefined)));
}

/** Gives the folder to the user that PostgreSQL runs as. */
function own(folder: string): void {
  const account = findAccount();
  assert.ok(account, 'only root can start these machines');
  chownSync(folder, account.uid, account.gid);
}

async function startNode(bin: string, folder: string, name: string, etcd: string) {
  const [host, rest] = [await getFreeHost(), await getFreeHost()];
  const home = join(folder, name);
  mkdirSync(home);
  own(home);
  const configuration = {
    ...{ scope: 'petstore', name, etcd3: { host: etcd } },
    restapi: { listen: rest, connect_address: rest },
    bootstrap: {
      dcs: { ...DCS, postgresql: { use_pg_rewind: true, parameters: PARAMETERS } },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }],
    },
    postgresql: {
      ...{ listen: host, connect_address: host, bin_dir: findPostgresBin() },
      ...{ data_dir: join(home, 'data'), pgpass: join(home, 'pgpass'), pg_hba: RULES },
      parameters: { unix_socket_directories: home },
      authentication: { superuser: POSTGRES, replication: POSTGRES },
      // Else a copy of the leader waits for its next checkpoint, which is minutes away.
      basebackup: [{ checkpoint: 'fast' }],
    },
  };
  // JSON is YAML.
  writeFileSync(`${home}.yml`, JSON.stringify(configuration));
  const machine = startMachine(`${home}.log`, join(bin, 'patroni'), `${home}.yml`);
  /** The address of a database for the superuser. */
  const url = (database: string) => `postgres://postgres@${host}/${database}`;
  return { name, host, api: `http://${rest}`, machine, url };
}

type Balanced = Readonly<Record<'plain' | 'ending', string>>;

/** As in the example of Patroni. One port keeps the sessions of a node that leads no more, the other ends them. */
function startHaproxy(folder: string, nodes: readonly Node[], { plain, ending }: Balanced) {
  const listen = (host: string, option: string) => [
    ...[`listen ${host}`, `bind ${host}`, 'option httpchk OPTIONS /primary'],
    ...['http-check expect status 200', `default-server inter 3s fall 3 rise 2 ${option}`],
    ...nodes.map(({ name, host, api }) => `server ${name} ${host} check port ${new URL(api).port}`),
  ];
  const lines = [
    ...['defaults', 'mode tcp', 'timeout connect 4s', 'timeout check 5s'],
    ...['timeout client 30m', 'timeout server 30m'],
    ...[...listen(plain, ''), ...listen(ending, 'on-marked-down shutdown-sessions'), ''],
  ];
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, lines.join('\n'));
  return startMachine(join(folder, 'haproxy.log'), 'haproxy', '-db', '-f', file);
}
