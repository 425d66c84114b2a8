/** A network namespace whose connection to the database can be cut. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';

/** Addresses for tests of networks (RFC 2544). */
const DATABASE_HOST = '198.18.83.1';
const SERVICE_HOSTS = ['198.18.83.2', '198.18.83.3'] as const;
const CLIENT_HOST = '198.18.84.1';
const LISTEN_HOST = '198.18.84.2';

const NAME = 'petstore-outages';
/** A process in the namespace sees these files in /etc. */
const FILES = `/etc/netns/${NAME}`;
/** The links' names, which have 15 characters at most. */
const DATABASE_LINK = 'petstore-db';
const CLIENT_LINK = 'petstore-client';
const LINKS = [DATABASE_LINK, CLIENT_LINK];

/** An unused address: packets to it are lost silently. */
const NOWHERE = '02:00:00:00:00:01';

export interface Network extends Disposable {
  /** The prefix of a command that is to run in the namespace. */
  readonly within: readonly string[];
  /** Where the database listens for the namespace. */
  readonly databaseHost: string;
  /** Where a service in the namespace listens, which no cut reaches. */
  readonly listenHost: string;
  /** All packets between the service and the database are lost from now on, or only the answers. */
  cut(what: 'all' | 'answers'): void;
  mend(): void;
  /** The namespace has no way to the database, and knows it. */
  unplug(): void;
  plug(): void;
  /** Existing connections to the database get no more packets; new ones come from another address. */
  move(): void;
}

/** Makes the namespace; `using` removes it and its links. */
export function createNetwork(): Network {
  const within = (line: string) => `-n ${NAME} ${line}`;
  let at = 0;
  remove();
  run(`netns add ${NAME}`);
  mkdirSync(FILES, { recursive: true });
  // While packets are lost, a name server there is silent.
  writeFileSync(`${FILES}/resolv.conf`, `nameserver ${DATABASE_HOST}\n`);
  for (const [link, outer, inner] of [
    [DATABASE_LINK, DATABASE_HOST, SERVICE_HOSTS[0]],
    [CLIENT_LINK, CLIENT_HOST, LISTEN_HOST],
  ]) {
    run(`link add ${link} type veth peer name ${link} netns ${NAME}`);
    run(`address add ${outer}/24 dev ${link}`);
    run(`link set ${link} up`);
    run(within(`address add ${inner}/24 dev ${link}`));
    run(within(`link set ${link} up`));
  }

  return {
    within: ['ip', 'netns', 'exec', NAME],
    databaseHost: DATABASE_HOST,
    listenHost: LISTEN_HOST,
    cut(what) {
      const to = (host: string) =>
        `neighbour replace ${host} lladdr ${NOWHERE} nud permanent dev ${DATABASE_LINK}`;
      run(to(SERVICE_HOSTS[at] ?? ''));
      if (what === 'all') run(within(to(DATABASE_HOST)));
    },
    mend() {
      run(`neighbour flush nud permanent dev ${DATABASE_LINK}`);
      run(within(`neighbour flush nud permanent dev ${DATABASE_LINK}`));
    },
    unplug() {
      run(within(`link set ${DATABASE_LINK} down`));
    },
    plug() {
      run(within(`link set ${DATABASE_LINK} up`));
    },
    move() {
      const old = SERVICE_HOSTS[at];
      at = 1 - at;
      run(within(`address delete ${old}/24 dev ${DATABASE_LINK}`));
      run(within(`address add ${SERVICE_HOSTS[at]}/24 dev ${DATABASE_LINK}`));
    },
    [Symbol.dispose]: remove,
  };
}

/** Also what a test left that was killed: the links stay for as long as a process in the namespace. */
function remove(): void {
  rmSync(FILES, { recursive: true, force: true });
  for (const what of [`netns delete ${NAME}`, ...LINKS.map((link) => `link delete ${link}`)]) {
    try {
      run(what);
    } catch {
      // It is not there.
    }
  }
}

/** Needs root, and Debian's package iproute2. */
function run(line: string): void {
  execFileSync('ip', line.split(' '), { stdio: ['ignore', 'ignore', 'pipe'] });
}
