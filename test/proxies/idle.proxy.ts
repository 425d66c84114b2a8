/** Real proxies, as their manuals show them, before the service: no POST fails because connections were idle. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { installPython } from '../../scripts/run.ts';
import { startService } from '../support/program.ts';
import { startProxy, type TestProxy } from '../support/proxy.ts';
import { send } from '../support/request.ts';
import { exchange, getFreePort, openConnection } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

/** A message that the service closes a connection comes so much later, and crosses a request. */
const LINK_MS = 20;
/** At most as many as the connections that Caddy keeps. */
const POSTS = 30;
/** Around 10 s, 60 s, and each time up to 75 s at which proxies or services often close what is idle. */
const IDLE_SECONDS = [9.98, 12, 30, 59.98, 62, 65, 72.94, 72.96, 72.98, 73, 73.02, 75];
/** After which no proxy closes what a client opened ahead of its use, but the service would. */
const AHEAD_SECONDS = 12;

/** A port of the proxy, and where it leads. */
interface Lane {
  readonly port: number;
  readonly to: string;
}

interface Proxy {
  /** Its last argument is the name of the file. */
  readonly command: readonly [string, ...string[]];
  readonly write: (lanes: readonly Lane[]) => string;
}

const each = (lanes: readonly Lane[], write: (lane: Lane) => string) => lanes.map(write).join('');

const envoyFolder = await installPython('envoy', join(import.meta.dirname, 'requirements.txt'));
const ENVOY = 'type.googleapis.com/envoy.extensions.filters';

function toEnvoyListener({ port, to }: Lane) {
  const routes = [{ match: { prefix: '/' }, route: { cluster: to } }];
  const http = {
    '@type': `${ENVOY}.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: to,
    route_config: { virtual_hosts: [{ name: to, domains: ['*'], routes }] },
    http_filters: [{ name: 'router', typed_config: { '@type': `${ENVOY}.http.router.v3.Router` } }],
  };
  const filters = [{ name: 'http', typed_config: http }];
  return { ...toEnvoyAddress(`127.0.0.1:${port}`), filter_chains: [{ filters }] };
}

/** It opens 6 connections ahead of their use beside 30 that are used. The service answers 408 on the 6 after 10 s. */
function toEnvoyCluster({ to }: Lane) {
  const endpoints = [{ lb_endpoints: [{ endpoint: toEnvoyAddress(to) }] }];
  return {
    name: to,
    load_assignment: { cluster_name: to, endpoints },
    preconnect_policy: { per_upstream_preconnect_ratio: 1.2 },
  };
}

function toEnvoyAddress(host: string) {
  const { hostname: address, port } = new URL(`http://${host}`);
  return { address: { socket_address: { address, port_value: Number(port) } } };
}

/** nginx and HAProxy keep connections as long as Caddy does. */
const PROXIES: Readonly<Record<string, Proxy>> = {
  nginx: {
    command: ['/usr/sbin/nginx', '-e', 'stderr', '-p', '.', '-c', 'proxy.conf'],
    write: (lanes) => `daemon off; pid nginx.pid; events { worker_connections 4096; }
      http { access_log off; client_body_temp_path body; proxy_temp_path proxy;
      fastcgi_temp_path fastcgi; scgi_temp_path scgi; uwsgi_temp_path uwsgi;
      ${each(
        lanes,
        ({ port, to }) => `upstream to${port} { server ${to}; keepalive 64;
      keepalive_timeout 120s; } server { listen 127.0.0.1:${port}; location / {
      proxy_pass http://to${port}; proxy_http_version 1.1; proxy_set_header Connection ''; } }`,
      )} }`,
  },
  HAProxy: {
    command: ['/usr/sbin/haproxy', '-db', '-f', 'proxy.conf'],
    write: (lanes) => `global\n nbthread 1\ndefaults\n mode http\n http-reuse always
 timeout connect 5s\n timeout client 120s\n timeout server 120s\n${each(
   lanes,
   ({ port, to }) =>
     `listen to${port}\n bind 127.0.0.1:${port}\n server petstore ${to} pool-purge-delay 120s\n`,
 )}`,
  },
  Caddy: {
    command: ['/usr/bin/caddy', 'run', '--adapter', 'caddyfile', '--config', 'proxy.conf'],
    write: (lanes) =>
      `{\n admin off\n auto_https off\n}\n${each(
        lanes,
        ({ port, to }) => `http://127.0.0.1:${port} {\n reverse_proxy ${to}\n}\n`,
      )}`,
  },
  Envoy: {
    command: [
      join(envoyFolder, 'envoy'),
      ...['--disable-hot-restart', '--concurrency', '1', '--config-path', 'proxy.json'],
    ],
    write: (lanes) => {
      const listeners = lanes.map(toEnvoyListener);
      const clusters = lanes.map(toEnvoyCluster);
      return JSON.stringify({ static_resources: { listeners, clusters } });
    },
  },
};

describe('proxies', { concurrency: true }, async () => {
  // More than all lanes have: else the service closes what was idle longest.
  const service = await startService(['--max-connections', '4096'], { cwd: createProcessFolder() });
  after(() => service[Symbol.asyncDispose]());
  const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' };
  const body = '{"name":"Rex","categoryId":1}';
  const post = ({ port }: Lane) =>
    send(port, {
      ...{ method: 'POST', path: '/v1/pets', body },
      headers: { ...headers, connection: 'close' },
    });

  test('proxies › a connection that nobody uses › gets a 408 from the service itself', async () => {
    assert.match(await exchange(service.port), /^HTTP\/1\.1 408 /);
  });

  /** The answers to 30 POSTs at once, after 30 others that many seconds before. */
  async function postTwice(lane: Lane, link: TestProxy, seconds: number) {
    const postAll = () => Promise.all(Array.from({ length: POSTS }, () => post(lane)));
    await postAll();
    const { opened } = link;
    await sleep(seconds * 1_000);
    const statuses = (await postAll()).map(({ status }) => status);
    return { statuses, reused: POSTS - (link.opened - opened) };
  }

  /** Sends a POST on a connection that was opened ahead of its use. */
  async function postLate({ port }: Lane): Promise<string> {
    using connection = openConnection(port);
    await sleep(AHEAD_SECONDS * 1_000);
    const fields = { host: `127.0.0.1:${port}`, ...headers, connection: 'close' };
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = `POST /v1/pets HTTP/1.1\r\n${lines.join('')}content-length: ${body.length}`;
    connection.socket.write(`${head}\r\n\r\n${body}`);
    return await connection.readToEnd();
  }

  for (const [name, { command, write }] of Object.entries(PROXIES)) {
    test(`proxies › ${name}, whose connections were idle › answers each POST 201`, async (t) => {
      await using stack = new AsyncDisposableStack();
      const cwd = createProcessFolder();
      const links: TestProxy[] = [];
      const lanes: Lane[] = [];
      for (const _ of IDLE_SECONDS) {
        const link = stack.use(await startProxy(service.url, LINK_MS));
        links.push(link);
        lanes.push({ port: await getFreePort(), to: new URL(link.address).host });
      }
      writeFileSync(join(cwd, command.at(-1) ?? ''), write(lanes));
      const env = { ...process.env, HOME: cwd, XDG_DATA_HOME: cwd, XDG_CONFIG_HOME: cwd };
      const child = spawn(command[0], command.slice(1), { cwd, env, stdio: 'ignore' });
      stack.defer(async () => {
        child.kill('SIGKILL');
        if (child.exitCode === null) await once(child, 'exit');
      });
      for (const { port } of lanes) {
        await until(() => {
          assert.equal(child.exitCode, null, `${name} has ended`);
          const asked = send(port, { path: '/livez', headers: { connection: 'close' } });
          return asked.then(({ status }) => status === 200).catch(() => false);
        });
      }
      const late = Promise.all(lanes.map(postLate));
      await Promise.all(
        IDLE_SECONDS.map(async (seconds, index) => {
          const result = await postTwice(lanes[index] as Lane, links[index] as TestProxy, seconds);
          const failed = result.statuses.filter((status) => status !== 201);
          t.diagnostic(`${seconds} s: ${failed.length} failed, ${result.reused} were idle`);
          assert.deepEqual(failed, [], `after ${seconds} s`);
          assert.ok(result.reused > POSTS / 2, `after ${seconds} s ${result.reused} were reused`);
        }),
      );
      for (const text of await late) assert.match(text, /^HTTP\/1\.1 201 /);
    });
  }
});
