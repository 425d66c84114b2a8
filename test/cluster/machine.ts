/** A program as the user `postgres`, with process ids of its own: all that it starts dies and freezes as one machine. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';

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

    /** Sends the signal to all its processes, or to those of that name: at once, as a machine freezes as a whole. */
    signal(signal: NodeJS.Signals, named = ''): void {
      // A process may start another one before it gets the signal.
      for (let time = 0; time < 2; time += 1) {
        for (const pid of listDescendants(child.pid)) {
          try {
            const name = readFileSync(`/proc/${pid}/comm`, 'utf8');
            if (name.startsWith(named)) process.kill(pid, signal);
          } catch {
            // It has ended meanwhile.
          }
        }
      }
    },

    /** Ends it without a warning; resolves when no process of it is left. */
    async kill(): Promise<void> {
      // It takes all others with it.
      const [first] = listChildren(child.pid);
      if (first === undefined) return;
      const exit = once(child, 'exit');
      process.kill(first, 'SIGKILL');
      await exit;
    },
  };
}

function listDescendants(pid: number | undefined): number[] {
  const children = listChildren(pid);
  return [...children, ...children.flatMap(listDescendants)];
}

/** Those of test/support/children.ts are read in turns, which take half a minute on a busy machine. */
function listChildren(pid: number | undefined): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return children.split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
