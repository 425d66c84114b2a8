/** A leader that freezes for longer than `ttl` and thaws. */

import { join } from 'node:path';
import { installPython, ROOT } from '../../scripts/run.ts';
import { type Event, tryEvents } from './suite.ts';

/** All processes of the leader, or those of that name. */
const freeze = (named?: string): Event => ({
  cause: ({ leader }) => leader.machine.signal('SIGSTOP', named),
  isNew: true,
  end: ({ leader }) => leader.machine.signal('SIGCONT', named),
});

tryEvents(
  { 'a frozen leader': freeze(), 'a leader whose PostgreSQL is frozen': freeze('postgres') },
  // Debian's Patroni loses pets then: it does not compare before it writes who leads.
  () => installPython('patroni', join(ROOT, 'scripts/patroni-requirements.txt')),
);
