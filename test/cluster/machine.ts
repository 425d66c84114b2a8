/** A program as the user `postgres`, with process ids of its own: all that it starts dies and freezes as one machine. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { listChildren } from '../support/children.ts';

/** Only root may do this. Whatever ends the process of the tests ends the machine too. */
const ENTER = [
  ...['--pdeathsig=KILL', 'unshare', '--kill-child', '--pid', '--mount-proc', 'setpriv'],
  ...['--pdeathsig=KILL', '--reuid=postgres', '--regid=postgres', '--clear-groups'],
  // Patroni from PyPI and its Python may be in a folder of root.
  ...['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search'],
];

/** Starts it with a file for its log. */
export function startMachine(log: string, ...command: readonly string[]) {
  let child: ChildProcess;
  function start(): void {
    const file = openSync(log, 'a');
    const stdio = ['ignore', file, file] as const;
    child = spawn('setpriv', [...ENTER, ...command], { cwd: '/', stdio: [...stdio] });
    closeSync(file);
  }
  start();
  return {
    /** Again, after `kill`. */
    start,

    /** Sends the signal to all its processes, or to those of that name. */
    async signal(signal: NodeJS.Signals, named = ''): Promise<void> {
      for (const pid of await listDescendants(child.pid)) {
        try {
          const name = await readFile(`/proc/${pid}/comm`, 'utf8');
          if (name.startsWith(named)) process.kill(pid, signal);
        } catch {
          // It has ended meanwhile.
        }
      }
    },

    /** Ends it without a warning; resolves when no process of it is left. */
    async kill(): Promise<void> {
      // It takes all others with it.
      const [first] = await listChildren(child.pid);
      if (first === undefined) return;
      const exit = once(child, 'exit');
      process.kill(first, 'SIGKILL');
      await exit;
    },
  };
}

async function listDescendants(pid: number | undefined): Promise<number[]> {
  const children = await listChildren(pid);
  return [...children, ...(await Promise.all(children.map(listDescendants))).flat()];
}
