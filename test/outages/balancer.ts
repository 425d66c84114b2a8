/** nginx with the files of deploy/ before replicas, and a certificate. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createCertificate } from '../support/certificate.ts';
import { getFreePort } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
/** How long nginx takes to apply a new configuration and to finish its work by the old one. */
const RELOAD_MS_MAX = 1_000;

export type Balancer = Awaited<ReturnType<typeof startBalancer>>;

interface BalancerOptions {
  readonly rate?: string;
  /** How long a replica may take for an answer. */
  readonly readTimeout?: string;
  readonly tlsPort?: number;
}

/**
 * nginx with the files of deploy/, in a folder of its own, before the replicas on these two ports. All
 * tests have the same address, so they have a higher rate than clients, unless it is given. With a port for
 * TLS it takes tls.conf too, and a certificate made for it.
 */
export async function startBalancer(
  replicas: readonly [number, number],
  { rate = '100000r/s', readTimeout = '5s', tlsPort }: BalancerOptions = {},
) {
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
    ['rate=100r/s;', `rate=${rate};`],
    ['proxy_read_timeout 5s;', `proxy_read_timeout ${readTimeout};`],
  ]);
  await adapt('upstream.conf', folder, [
    ['petstore-1:8080', `127.0.0.1:${replicas[0]}`],
    ['petstore-2:8080', `127.0.0.1:${replicas[1]}`],
  ]);
  if (tlsPort !== undefined) {
    await adapt('tls.conf', folder, [
      ['listen 8443 ssl;', `listen 127.0.0.1:${tlsPort} ssl;`],
      ['ssl_certificate tls.crt;', 'ssl_certificate server.crt;'],
      ['ssl_certificate_key tls.key;', 'ssl_certificate_key server.key;'],
    ]);
    createCertificate(folder, 'petstore.test');
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
  const url = `http://127.0.0.1:${port}`;
  await until(() => {
    assert.equal(child.exitCode, null, stderr);
    // It asks no replica.
    return fetch(`${url}/petstore-error`).then(Boolean, () => false);
  });
  return {
    url,
    port,
    /** Where tls.conf lies, and the certificate server.crt. */
    folder,
    /** Sends nothing more to the replica on that port, as upstream.conf says it is done. */
    async takeOut(replica: number) {
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

/** Writes a file of deploy/ to the folder, with other words in the place of some that must be there. */
async function adapt(name: string, folder: string, words: readonly [string, string][]) {
  let text = await readFile(join(DEPLOY, name), 'utf8');
  for (const [old, own] of words) {
    assert.ok(text.includes(old), `${name} has no ${old}`);
    text = text.replace(old, own);
  }
  await writeFile(join(folder, name), text);
}
