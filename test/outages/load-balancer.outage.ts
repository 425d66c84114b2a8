/** Two replicas on one PostgreSQL behind nginx, configured as in deploy/: to a client they are one service. */

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { request as requestByTls } from 'node:https';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type Cluster, startCluster } from '../support/postgres-cluster.ts';
import { type RunningService, runProgram, startService } from '../support/program.ts';
import { send } from '../support/request.ts';
import {
  type Answer,
  exchange,
  getFreePort,
  openConnection,
  parseAnswer,
} from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
const BODY_BYTES_MAX = 64 * 1024;
const REVOKED_MS_MAX = 1_000;
/** The longest delay of a log line. */
const LOG_MS_MAX = 500;
/** How long nginx takes to apply a new configuration and to finish its work by the old one. */
const RELOAD_MS_MAX = 1_000;
const CLIENTS = 4;
/** Of nginx.conf, for each address: requests a second and at once, and connections with a request. */
const RATE = '100r/s';
const BURST = 200;
const CONNECTIONS_MAX = 100;
/** More connections than two processes of nginx take unless it is configured. */
const ATTACKERS = 1_100;

interface Balancer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Where tls.conf lies, and the certificate tls.crt. */
  readonly folder: string;
  /** Sends nothing more to the replica on that port, as upstream.conf says it is done. */
  takeOut(replica: number): Promise<void>;
}

/**
 * nginx with the files of deploy/, in a folder of its own, before the replicas on these two ports. All
 * tests have the same address, so they have a higher rate than clients, unless it is given. With a port for
 * TLS it takes tls.conf too, and a certificate made for it.
 */
async function startBalancer(
  replicas: readonly [number, number],
  { rate = '100000r/s', tlsPort }: { rate?: string; tlsPort?: number } = {},
): Promise<Balancer> {
  const program = process.env.TEST_NGINX ?? '/usr/sbin/nginx';
  if (!existsSync(program)) {
    throw new Error(
      `there is no nginx at ${program}: install Debian's package nginx (apt-get install nginx), or name another with TEST_NGINX`,
    );
  }
  const folder = createProcessFolder();
  const port = await getFreePort();
  await adapt('nginx.conf', folder, [
    // As on a machine with two cores.
    ['worker_processes auto;', 'worker_processes 2;'],
    ['listen 8080;', `listen 127.0.0.1:${port};`],
    [`rate=${RATE};`, `rate=${rate};`],
  ]);
  await adapt('upstream.conf', folder, [
    ['petstore-1:8080', `127.0.0.1:${replicas[0]}`],
    ['petstore-2:8080', `127.0.0.1:${replicas[1]}`],
  ]);
  if (tlsPort !== undefined) {
    await adapt('tls.conf', folder, [['listen 8443 ssl;', `listen 127.0.0.1:${tlsPort} ssl;`]]);
    createCertificate(folder);
  }
  const args = ['-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')];
  const child = spawn(program, [...args, '-g', 'daemon off;'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exit = once(child, 'exit');
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  while (!(await isOpen(port))) {
    if (child.exitCode !== null) throw new Error(`nginx does not start: ${stderr}`);
    await setTimeout(20);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    folder,
    async takeOut(replica) {
      const file = join(folder, 'upstream.conf');
      const text = await readFile(file, 'utf8');
      await writeFile(file, text.replace(`:${replica} `, `:${replica} down `));
      child.kill('SIGHUP');
      await setTimeout(RELOAD_MS_MAX);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exit;
    },
  };
}

/** Writes tls.crt, of `petstore.test`, and tls.key to the folder. */
function createCertificate(folder: string): void {
  const files = ['-keyout', join(folder, 'tls.key'), '-out', join(folder, 'tls.crt')];
  const names = ['-subj', '/CN=petstore.test', '-addext', 'subjectAltName=DNS:petstore.test'];
  const kind = ['-x509', '-days', '1', '-nodes', '-newkey', 'ec'];
  execFileSync(
    'openssl',
    ['req', ...kind, '-pkeyopt', 'ec_paramgen_curve:prime256v1', ...names, ...files],
    { stdio: 'pipe' },
  );
}

/** Writes a file of deploy/ to the folder, with other words in the place of some that must be there. */
async function adapt(name: string, folder: string, words: readonly [string, string][]) {
  let text = await readFile(join(DEPLOY, name), 'utf8');
  for (const [old, own] of words) {
    assert.ok(text.includes(old), `${name} has no ${old}`);
    text = text.replace(old, own);
  }
  await writeFile(join(folder, name), text);
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

interface PetJson {
  readonly id: number;
  readonly name: string;
}

/** Each request on a connection of its own: nginx may close one that is idle just when it is used again. */
class PetClient {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#headers = {
      authorization: `Bearer ${key}`,
      connection: 'close',
      'content-type': 'application/json',
    };
  }

  get(path: string): Promise<Response> {
    return fetch(this.#url + path, { headers: this.#headers });
  }

  post(body: string): Promise<Response> {
    return fetch(`${this.#url}/v1/pets`, { method: 'POST', headers: this.#headers, body });
  }

  async add(name: string): Promise<PetJson> {
    const answer = await this.post(JSON.stringify({ name, categoryId: 1 }));
    assert.equal(answer.status, 201);
    return (await answer.json()) as PetJson;
  }

  /** All pets, by the pages that the service serves. */
  async list(): Promise<PetJson[]> {
    const pets: PetJson[] = [];
    let path: string | undefined = '/v1/pets?limit=100';
    while (path !== undefined) {
      const answer = await this.get(path);
      assert.equal(answer.status, 200);
      pets.push(...((await answer.json()) as PetJson[]));
      path = /^<(.+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
    }
    return pets;
  }
}

/** How often a replica answered with that status, by its log. */
function countLogged({ output }: RunningService, method: string, status: number): number {
  const lines = output.stderr.split('\n').filter((line) => line.endsWith('}'));
  const requests = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return requests.filter((line) => line.method === method && line.status === status).length;
}

describe('load balancer', () => {
  const cwd = createProcessFolder();
  let cluster: Cluster | undefined;
  const replicas: RunningService[] = [];
  let balancer: Balancer | undefined;
  let client: PetClient;
  let env: { PETSTORE_DATABASE: string };

  before(async () => {
    // First, since it reports what is missing on this machine.
    const first = await getFreePort();
    await (await startBalancer([first, first]))[Symbol.asyncDispose]();
    cluster = await startCluster();
    env = { PETSTORE_DATABASE: cluster.url() };
    const args = ['--trust-proxy', '127.0.0.1'];
    replicas.push(await startService(args, { cwd, env }), await startService(args, { cwd, env }));
    const [one, two] = replicas as [RunningService, RunningService];
    balancer = await startBalancer([one.port, two.port]);
    client = new PetClient(balancer.url, one.key);
  });
  after(async () => {
    await balancer?.[Symbol.asyncDispose]();
    for (const replica of replicas) await replica[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  test('load balancer › creates, lists and gets › reach both replicas, which are as one', async () => {
    const ids = new Set<number>();
    for (let count = 0; count < 20; count += 1) {
      const pet = await client.add(`one by one ${count}`);
      // Each of the three mostly reaches the other replica than the one before it.
      assert.deepEqual((await client.list()).at(-1), pet);
      assert.deepEqual(await (await client.get(`/v1/pets/${pet.id}`)).json(), pet);
      ids.add(pet.id);
    }
    const names = Array.from({ length: 60 }, (_, count) => `at once ${count}`);
    for (const { id } of await Promise.all(names.map((name) => client.add(name)))) ids.add(id);
    assert.equal(ids.size, 80);
    const listed = (await client.list()).map(({ id }) => id);
    assert.deepEqual(
      listed,
      [...ids].sort((a, b) => a - b),
    );
    await setTimeout(LOG_MS_MAX);
    for (const replica of replicas) {
      assert.ok(countLogged(replica, 'POST', 201) >= 10);
      assert.ok(countLogged(replica, 'GET', 200) >= 10);
    }
  });

  test('load balancer › a client that names another address › is logged with its own', async () => {
    const options = { port: balancer?.port, path: '/nothing', localAddress: '127.0.0.2' };
    const sent = request({ ...options, headers: { 'x-forwarded-for': '198.51.100.9' } }).end();
    const [response] = await once(sent, 'response');
    assert.equal(response.resume().statusCode, 404);
    await setTimeout(LOG_MS_MAX);
    const log = replicas.map(({ output }) => output.stderr).join('');
    assert.match(log, /"client":"127\.0\.0\.2","method":"GET","status":404/);
    assert.ok(!log.includes('198.51.100.9'));
  });

  test('load balancer › an address with 1,100 connections that send a byte each › keeps no other client out', async () => {
    const port = balancer?.port ?? 0;
    using opened = new DisposableStack();
    for (let count = 0; count < ATTACKERS; count += 1) {
      const { socket } = opened.use(openConnection(port));
      // One after the other: nginx closes a connection of which it has read nothing to make room.
      await once(socket, 'connect');
      await new Promise((resolve) => socket.write('G', resolve));
    }
    const headers = { authorization: `Bearer ${replicas[0]?.key}`, connection: 'close' };
    const request = { path: '/v1/pets?limit=1', localAddress: '127.0.0.2', headers };
    for (let count = 0; count < 100; count += 1) {
      assert.equal((await send(port, request)).status, 200);
    }
  });

  test('load balancer › with tls.conf beside it › takes TLS 1.2 and newer, and tells browsers', async () => {
    const tlsPort = await getFreePort();
    const ports = replicas.map(({ port }) => port) as [number, number];
    await using balancer = await startBalancer(ports, { tlsPort });
    const ca = await readFile(join(balancer.folder, 'tls.crt'));
    const ask = async (path: string, options = {}): Promise<IncomingMessage> => {
      const headers = { authorization: `Bearer ${replicas[0]?.key}`, connection: 'close' };
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
    assertOwnError(parseAnswer(await exchange(tlsPort, request)), 400, 'bad_request');
  });

  test('load balancer › a body of 64 KiB › passes', async () => {
    const body = '{"name":"Rex","categoryId":1}'.padEnd(BODY_BYTES_MAX);
    assert.equal((await client.post(body)).status, 201);
  });

  test('load balancer › a key that is revoked › is refused by both replicas within a second', async () => {
    const created = await runProgram(['keys', 'create', '--name', 'shop'], { cwd, env });
    const key = created.stdout.trim();
    const id = /^Key (\d+) /.exec(created.stderr)?.[1] ?? '';
    const outside = new PetClient(balancer?.url ?? '', key);
    const places = [outside, ...replicas.map(({ url }) => new PetClient(url, key))];
    const ask = async () =>
      Promise.all(places.map(async (place) => (await place.get('/v1/pets?limit=1')).status));
    assert.deepEqual(await ask(), [200, 200, 200]);
    let isRevoked = false;
    const revoked = runProgram(['keys', 'revoke', id], { cwd, env }).finally(() => {
      isRevoked = true;
    });
    // The key is in use all the time.
    while (!isRevoked) await ask();
    assert.equal((await revoked).status, 0);
    const began = performance.now();
    while (String(await ask()) !== '401,401,401') {
      assert.ok(performance.now() - began < REVOKED_MS_MAX);
    }
    for (let count = 0; count < 10; count += 1) assert.deepEqual(await ask(), [401, 401, 401]);
  });

  /** The result of clients that add and list pets while a replica is stopped. */
  async function loadWhile(t: TestContext, go: () => Promise<void>): Promise<string[]> {
    const added = new Map<number, string>();
    const unsure: string[] = [];
    let reads = 0;
    let isOver = false;
    const create = async (prefix: string) => {
      for (let count = 0; !isOver; count += 1) {
        const name = `${prefix} ${count}`;
        const answer = await client.post(JSON.stringify({ name, categoryId: 1 }));
        const body = (await answer.json()) as PetJson & { code?: string };
        if (answer.status === 201) {
          assert.ok(!added.has(body.id));
          added.set(body.id, name);
        } else {
          assert.equal(body.code, 'unavailable');
          unsure.push(name);
        }
      }
    };
    const read = async () => {
      for (; !isOver; reads += 1) {
        assert.equal((await client.get('/v1/pets?limit=1')).status, 200);
      }
    };
    const clients = Array.from({ length: CLIENTS }, (_, at) => [create(`${t.name} ${at}`), read()]);
    await setTimeout(500);
    await go();
    await setTimeout(500);
    isOver = true;
    await Promise.all(clients.flat());
    const kept = await client.list();
    const names = new Map(kept.map(({ id, name }) => [id, name]));
    for (const [id, name] of added) assert.equal(names.get(id), name);
    const ours = kept.map(({ name }) => name).filter((name) => name.startsWith(t.name));
    assert.equal(new Set(ours).size, ours.length, 'a pet is there twice');
    t.diagnostic(`${added.size} creates, ${unsure.length} of them unsure, ${reads} lists`);
    return unsure;
  }

  async function stop(replica: RunningService | undefined): Promise<void> {
    replica?.process.kill('SIGTERM');
    assert.equal((await replica?.finished)?.status, 0);
  }

  test('load balancer › a replica is taken out and stopped under load › no request fails', async (t: TestContext) => {
    const replica = await startService([], { cwd, env });
    replicas.push(replica);
    await using balancer = await startBalancer([replicas[0]?.port ?? 0, replica.port]);
    client = new PetClient(balancer.url, replicas[0]?.key ?? '');
    const unsure = await loadWhile(t, async () => {
      await balancer.takeOut(replica.port);
      await stop(replica);
    });
    assert.deepEqual(unsure, []);
  });

  test('load balancer › a replica is stopped under load › no more fails than was on its way', async (t: TestContext) => {
    client = new PetClient(balancer?.url ?? '', replicas[0]?.key ?? '');
    const unsure = await loadWhile(t, () => stop(replicas[1]));
    assert.ok(unsure.length <= CLIENTS, `${unsure.length} creates were refused`);
  });
});

/** Asserts an error that nginx itself answers. */
function assertOwnError({ status, headers, body }: Answer, expected: number, code: string): void {
  assert.equal(status, expected);
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['cache-control'], 'no-store');
  assert.match(headers['x-request-id'] ?? '', /^[\w.-]+$/);
  assert.equal(headers['retry-after'], [429, 503].includes(status) ? '1' : undefined);
  const { message, ...error } = JSON.parse(body) as Record<string, unknown>;
  assert.deepEqual(error, { code, status });
  assert.equal(typeof message, 'string');
}

describe('load balancer without replicas', { concurrency: true }, () => {
  /** Accepts requests, counts them, and closes without an answer. */
  async function listenInVain() {
    let requests = 0;
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        requests += 1;
        socket.destroy();
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return { port, count: () => requests, close: () => server.close() };
  }

  test('load balancer › a replica that ends during a request › gets no POST repeated, but a GET', async () => {
    const one = await listenInVain();
    const two = await listenInVain();
    await using balancer = await startBalancer([one.port, two.port]);
    const client = new PetClient(balancer.url, 'x');
    assert.equal((await client.post('{}')).status, 503);
    assert.equal(one.count() + two.count(), 1);
    assert.equal((await client.get('/v1/pets')).status, 503);
    assert.equal(one.count() + two.count(), 3);
    one.close();
    two.close();
  });

  const head = 'Host: petstore.test\r\nConnection: close\r\n';
  const cases = [
    ['no replica', 503, 'unavailable', `GET /v1/pets HTTP/1.1\r\n${head}\r\n`],
    [
      'a body above 64 KiB',
      ...([413, 'payload_too_large'] as const),
      `POST /v1/pets HTTP/1.1\r\n${head}Content-Length: ${BODY_BYTES_MAX + 1}\r\n\r\n`,
    ],
    [
      'a header above 16 KiB',
      ...([431, 'headers_too_large'] as const),
      `GET /v1/pets HTTP/1.1\r\n${head}X-Long: ${'x'.repeat(17_000)}\r\n\r\n`,
    ],
    [
      'a target above 16 KiB',
      ...([431, 'headers_too_large'] as const),
      `GET /${'x'.repeat(17_000)} HTTP/1.1\r\n${head}\r\n`,
    ],
    ['TRACE', 405, 'method_not_allowed', `TRACE /v1/pets HTTP/1.1\r\n${head}\r\n`],
    ['no Host', 400, 'bad_request', 'GET /v1/pets HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['no HTTP', 400, 'bad_request', 'rubbish\r\n\r\n'],
    [
      'a strange Transfer-Encoding',
      ...([400, 'bad_request'] as const),
      `POST /v1/pets HTTP/1.1\r\n${head}Transfer-Encoding: gzip\r\n\r\n`,
    ],
    ["nginx's own page", 404, 'not_found', `GET /petstore-error HTTP/1.1\r\n${head}\r\n`],
  ] as const;
  for (const [what, status, code, request] of cases) {
    test(`load balancer › ${what} › answers ${status} in the Error shape`, async () => {
      const closed = await getFreePort();
      await using balancer = await startBalancer([closed, closed]);
      assertOwnError(parseAnswer(await exchange(balancer.port, request)), status, code);
    });
  }

  test('load balancer › an address above its requests › is answered 429, and another one is not', async () => {
    const closed = await getFreePort();
    await using balancer = await startBalancer([closed, closed], { rate: RATE });
    const one = 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n';
    const text = await exchange(
      balancer.port,
      `${one}\r\n`.repeat(900),
      `${one}Connection: close\r\n\r\n`,
    );
    const answers = text.split(/(?=HTTP\/1\.1 )/).map(parseAnswer);
    const refused = answers.filter(({ status }) => status === 429);
    assert.ok(refused.length > 0 && answers.length - refused.length > BURST);
    assert.ok(answers.slice(0, BURST).every(({ status }) => status === 503));
    for (const answer of refused) assertOwnError(answer, 429, 'rate_limited');
    const other = await send(balancer.port, { path: '/v1/pets', localAddress: '127.0.0.2' });
    assert.equal(other.status, 503);
  });

  test('load balancer › an address above its connections › is answered 429, and another one is not', async () => {
    let begun = 0;
    const silent = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        begun += 1;
      });
    }).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    await using balancer = await startBalancer([port, port]);
    const get = `GET /v1/pets HTTP/1.1\r\n${head}\r\n`;
    for (let count = 0; count < CONNECTIONS_MAX; count += 1) void exchange(balancer.port, get);
    while (begun < CONNECTIONS_MAX) await setTimeout(10);
    assertOwnError(parseAnswer(await exchange(balancer.port, get)), 429, 'rate_limited');
    const other = new AbortController();
    const sent = { path: '/v1/pets', localAddress: '127.0.0.2', signal: other.signal };
    const waiting = assert.rejects(send(balancer.port, sent));
    while (begun === CONNECTIONS_MAX) await setTimeout(10);
    other.abort();
    await waiting;
    silent.close();
  });
});
