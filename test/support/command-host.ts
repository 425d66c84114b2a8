/** Runs the commands that `command.ts` sends, one after the other, as the program would run each. */

import { Writable } from 'node:stream';
import { run } from '../../src/cli/run.ts';
import type { Run } from './command.ts';
import { until } from './until.ts';

const home = process.cwd();
const countOpen = () => process.getActiveResourcesInfo().length;

const written = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
for (const name of ['stdout', 'stderr'] as const) {
  const write: Writable['_write'] = (chunk, _encoding, done) => {
    written[name].push(chunk);
    done();
  };
  Object.defineProperty(process, name, { value: new Writable({ write }) });
}

/** What was written since the last call. */
const take = (name: keyof typeof written) => Buffer.concat(written[name].splice(0)).toString();

process.on('message', async ({ args, cwd, env }: Run) => {
  const openBefore = countOpen();
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  await run(args);
  // A process of its own would end only then.
  await until(() => countOpen() <= openBefore);
  const status = process.exitCode ?? 0;
  process.exitCode = undefined;
  // The folder may be removed now.
  process.chdir(home);
  process.send?.({ status, stdout: take('stdout'), stderr: take('stderr') });
});
