/** What people use instead: bare frameworks and mock servers with a list of the same pets in memory. */

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePets } from './datasets.ts';
import { program, type Server, start } from './servers.ts';

const PACKAGES = ['express@5.3.0', 'json-server@0.17.4', '@stoplight/prism-cli@5.16.0'];

const root = join(import.meta.dirname, '..');
const peers = join(root, '.cache/bench-peers');
const modules = join(peers, 'node_modules');

export const PEERS = ['Fastify', 'Express', 'json-server', 'Prism'] as const;
export type Peer = (typeof PEERS)[number];

let isInstalled = false;

/** Installs the peers, apart from the dependencies: only the bench needs them. */
function install(): void {
  if (isInstalled) return;
  isInstalled = true;
  const options = ['install', '--prefix', peers, '--ignore-scripts', '--no-save', '--no-audit'];
  execFileSync('npm', [...options, '--no-fund', '--loglevel=error', ...PACKAGES]);
}

/** Starts a peer with pets from id 1 and its default settings, except that it writes no log. */
export function startPeer(peer: Peer, folder: string, pets: number): Promise<Server> {
  install();
  const file = writePets(folder, pets);
  switch (peer) {
    case 'Fastify':
      return start({ args: (port) => [program('fastify'), port, file] });
    case 'Express':
      return start({ args: (port) => [program('express'), port, file, peers] });
    case 'json-server': {
      const bin = join(modules, 'json-server/lib/cli/bin.js');
      const options = ['--quiet', '--host', '127.0.0.1', '--snapshots', folder];
      return start({ args: (port) => [bin, ...options, '--port', port, file], prefix: '' });
    }
    case 'Prism': {
      const bin = join(modules, '@stoplight/prism-cli/dist/index.js');
      const document = writeDocument(folder, file);
      const args = (port: string) => [bin, 'mock', '-v', 'silent', '-p', port, document];
      // Prism wants a key, as the document says, and accepts any.
      return start({ args, prefix: '', key: 'any' });
    }
  }
}

/** The OpenAPI document with the pets as the example of a list. */
function writeDocument(folder: string, pets: string): string {
  const document = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8'));
  const { content } = document.paths['/pets'].get.responses['200'];
  content['application/json'].example = JSON.parse(readFileSync(pets, 'utf8')).pets;
  const file = join(folder, 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  return file;
}
