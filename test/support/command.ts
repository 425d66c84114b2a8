/**
 * Commands without a process for each: a host loads the command line once, and runs many commands, one
 * after the other. For what a command prints and does; what is of its process, as standard input, pipes
 * and signals, is tested with `runProgram`, and so is one command of each group.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { HANG_MS } from './hang.ts';
import { type Finished, type RunOptions, showIfFailed, withoutOptions } from './program.ts';

const HOST = fileURLToPath(new URL('command-host.ts', import.meta.url));

/** What a host is sent; it sends back what the command wrote, and the exit status. */
export interface Run {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

const idle: ChildProcess[] = [];

/** Runs a command to its end; one that takes too long, or ends its host, fails. */
export async function runCommand(
  args: readonly string[],
  { cwd, env }: Pick<RunOptions, 'cwd' | 'env'>,
): Promise<Finished> {
  const host = idle.pop() ?? startHost();
  const { promise: lost, reject } = Promise.withResolvers<never>();
  const lose = () => reject(new Error(`${args.join(' ')} ended its host, or was late`));
  host.once('exit', lose);
  // It keeps this process alive, which a host does not.
  const timer = setTimeout(() => host.kill('SIGKILL'), HANG_MS);
  const ended = once(host, 'message');
  host.send({ args, cwd, env: { ...withoutOptions(process.env), ...env } } satisfies Run);
  try {
    const [finished] = await Promise.race([ended, lost]);
    showIfFailed(() => ({ args, ...finished }));
    idle.push(host);
    return { signal: null, ...finished };
  } finally {
    host.off('exit', lose);
    clearTimeout(timer);
  }
}

/** What a shell makes of a line without quotes, such as `PETSTORE_PORT=1 serve --seed 3`. */
export function parseLine(line: string): { args: string[]; env: Record<string, string> } {
  const words = line.split(' ');
  const isVariable = (word: string) => /^(?:PETSTORE|npm_config)_\w+=/.test(word);
  const variables = words.filter(isVariable).map((word) => word.split(/=(.*)/s));
  return {
    args: words.filter((word) => !isVariable(word)),
    env: Object.fromEntries(variables),
  };
}

/** The names of the commands that do something, such as `keys create`. */
export function listCommands(group: Command): string[] {
  const commands = group.createHelp().visibleCommands(group);
  return commands.flatMap((command) => {
    if (command.name() === 'help') return [];
    const names = listCommands(command).map((name) => `${command.name()} ${name}`);
    return names.length > 0 ? names : command.name();
  });
}

function startHost(): ChildProcess {
  const host = fork(HOST, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  host.unref();
  host.channel?.unref();
  return host;
}
