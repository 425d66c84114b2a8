/** Runs the commands that `command.ts` sends, one after the other, as the program would run each. */

import { run } from '../../src/cli/run.ts';
import { type Command, END } from './command.ts';
import { until } from './until.ts';

const home = process.cwd();
const streams = [process.stdout, process.stderr];
const countOpen = () => process.getActiveResourcesInfo().length;

process.on('message', async ({ args, cwd, env }: Command) => {
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
  for (const stream of streams) stream.write(END);
  process.send?.(status);
});
