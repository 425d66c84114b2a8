/** nginx with the files of deploy/ before replicas, a client that asks it, and the errors that nginx itself answers. */

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Answer, getFreePort } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
/** How long nginx takes to apply a new configuration and to finish its work by the old one. */
const RELOAD_MS_MAX = 1_000;
/** Of nginx.conf, for each address. */
export const RATE = '100r/s';

export interface Balancer extends AsyncDisposable {
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
export async function startBalancer(
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

/** Asserts an error that nginx itself answers. */
export function assertOwnError(
  { status, headers, body }: Answer,
  expected: number,
  code: string,
): void {
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
