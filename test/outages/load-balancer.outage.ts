/** Two replicas on one PostgreSQL behind nginx, configured as in deploy/: to a client they are one service. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request as requestByTls } from 'node:https';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type Cluster, startCluster } from '../support/postgres-cluster.ts';
import { type RunningService, startService } from '../support/program.ts';
import { assertError, send } from '../support/request.ts';
import { exchange, getFreePort, openConnection, parseAnswer } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { ALL_ANSWERED, startLoad } from './load.ts';
import * as petstore from './petstore.ts';

const BODY_BYTES_MAX = 64 * 1024;
/** The longest delay of a log line. */
const LOG_MS_MAX = 500;
const CLIENTS = 4;
/** More connections than two processes of nginx take unless it is configured. */
const ATTACKERS = 1_100;

describe('load balancer', () => {
  const cwd = createProcessFolder();
  let cluster: Cluster | undefined;
  const replicas: RunningService[] = [];
  let balancer: Balancer;
  let key: string;
  let env: { PETSTORE_DATABASE: string };

  before(async () => {
    cluster = await startCluster();
    env = { PETSTORE_DATABASE: cluster.url() };
    const args = ['--trust-proxy', '127.0.0.1'];
    replicas.push(await startService(args, { cwd, env }), await startService(args, { cwd, env }));
    const [one, two] = replicas as [RunningService, RunningService];
    balancer = await startBalancer([one.port, two.port]);
    key = one.key;
  });
  after(async () => {
    await balancer?.[Symbol.asyncDispose]();
    for (const replica of replicas) await replica[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  test('load balancer › a client that names another address › is logged with its own', async () => {
    const headers = { 'x-forwarded-for': '198.51.100.9', origin: 'http://shop.test' };
    const request = { path: '/nothing', localAddress: '127.0.0.2', headers };
    const answer = await send(balancer.port, request);
    assert.equal(answer.status, 404);
    // nginx adds nothing to the service's own answer: a second origin is an error in a browser.
    assert.equal(answer.headers['access-control-allow-origin'], '*');
    await setTimeout(LOG_MS_MAX);
    const log = replicas.map(({ output }) => output.stderr).join('');
    assert.match(log, /"client":"127\.0\.0\.2","method":"GET","status":404/);
    assert.ok(!log.includes('198.51.100.9'));
  });

  test('load balancer › an address with 1,100 connections that send a byte each › keeps no other client out', async () => {
    const { port } = balancer;
    using opened = new DisposableStack();
    for (let count = 0; count < ATTACKERS; count += 1) {
      const { socket } = opened.use(openConnection(port));
      // One after the other: nginx closes a connection of which it has read nothing to make room.
      await once(socket, 'connect');
      await new Promise((resolve) => socket.write('G', resolve));
    }
    const headers = { authorization: `Bearer ${key}`, connection: 'close' };
    const request = { path: '/v1/pets?limit=1', localAddress: '127.0.0.2', headers };
    for (let count = 0; count < 100; count += 1) {
      assert.equal((await send(port, request)).status, 200);
    }
  });

  test('load balancer › with tls.conf beside it › takes TLS 1.2 and newer, and tells browsers', async () => {
    const tlsPort = await getFreePort();
    const ports = replicas.map(({ port }) => port) as [number, number];
    await using balancer = await startBalancer(ports, { tlsPort });
    const ca = await readFile(join(balancer.folder, 'server.crt'));
    const ask = async (path: string, options = {}): Promise<IncomingMessage> => {
      const headers = { authorization: `Bearer ${key}`, connection: 'close' };
      const place = { host: '127.0.0.1', port: tlsPort, path, headers };
      const sent = requestByTls({ ...place, ca, servername: 'petstore.test', ...options }).end();
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      answer.resume();
      return answer;
    };
    for (const [path, status] of [
      ['/v1/pets', 200],
      ['/petstore-error', 404],
    ] as const) {
      const { statusCode, headers } = await ask(path);
      assert.equal(statusCode, status);
      assert.equal(headers['strict-transport-security'], 'max-age=31536000');
    }
    await ask('/v1/pets', { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' });
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
    await assert.rejects(ask('/v1/pets', old), /alert protocol version/);
    const plain = await send(balancer.port, { path: '/livez' });
    assert.equal(plain.status, 200);
    assert.equal(plain.headers['strict-transport-security'], undefined);
    const request = 'GET /v1/pets HTTP/1.1\r\nHost: petstore.test\r\nConnection: close\r\n\r\n';
    assertError(parseAnswer(await exchange(tlsPort, request)), 'bad_request', /well-formed/);
  });

  test('load balancer › a body of 64 KiB › passes', async () => {
    const body = '{"name":"Rex","categoryId":1}'.padEnd(BODY_BYTES_MAX);
    assert.equal((await petstore.post(balancer, key, body)).status, 201);
  });

  /** Sends requests through the balancer while that happens, and for a while before and after it. */
  async function loadWhile(balancer: Balancer, prefix: string, happens: () => Promise<void>) {
    const created = new Map([[await petstore.create(balancer, key, prefix), prefix]]);
    const target = { services: [balancer], key, created } as const;
    const load = startLoad(target, prefix, { clients: CLIENTS });
    const from = performance.now();
    await setTimeout(500);
    await happens();
    await setTimeout(500);
    const to = performance.now();
    await load.stop();
    assert.deepEqual(load.violations, []);
    load.assertWithin([from, to], 0, { ...ALL_ANSWERED, create: 'any', ready: 'any' });
    await petstore.assertKept(target);
    return load.countRefusals('create');
  }

  async function stop(replica: RunningService | undefined): Promise<void> {
    replica?.process.kill('SIGTERM');
    assert.equal((await replica?.finished)?.status, 0);
  }

  test('load balancer › a replica is taken out and stopped under load › no request fails', async () => {
    const replica = await startService([], { cwd, env });
    replicas.push(replica);
    await using balancer = await startBalancer([replicas[0]?.port ?? 0, replica.port]);
    const refused = await loadWhile(balancer, 'taken out', async () => {
      await balancer.takeOut(replica.port);
      await stop(replica);
    });
    assert.equal(refused, 0);
  });

  test('load balancer › one of two replicas is stopped under load › no more fails than was on its way', async () => {
    const refused = await loadWhile(balancer, 'stopped', () => stop(replicas[1]));
    assert.ok(refused <= CLIENTS, `${refused} creates were refused`);
    await setTimeout(LOG_MS_MAX);
    for (const { output } of replicas.slice(0, 2)) {
      assert.match(output.stderr, /"method":"POST","route":"\/v1\/pets","status":201/);
      assert.match(
        output.stderr,
        /"127\.0\.0\.1","method":"GET","route":"\/v1\/pets","status":200/,
      );
    }
  });
});
