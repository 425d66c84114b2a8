/**
 * Commands without a process for each: a host loads the command line once, and runs many commands, one
 * after the other. For what a command prints and does; what is of its process, as standard input, pipes
 * and signals, is tested with `runProgram`, and so is one command of each group.
 */

import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Finished, RUN_MS_MAX, type RunOptions, withoutOptions } from './program.ts';

/** A host writes it to both streams after each command. */
export const END = '\0end of the command\0';

const HOST = fileURLToPath(new URL('command-host.ts', import.meta.url));

/** What a host is sent; it sends back the exit status. */
export interface Command {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

const running = new Set<Host>();
const idle: Host[] = [];
process.on('exit', () => {
  for (const host of [...running, ...idle]) host.kill();
});

/** Runs a command to its end; one that takes too long, or ends its host, fails. */
export async function runCommand(
  args: readonly string[],
  { cwd, env }: Pick<RunOptions, 'cwd' | 'env'>,
): Promise<Finished> {
  const host = idle.pop() ?? new Host();
  running.add(host);
  // It keeps this process alive, which a host does not.
  const timer = setTimeout(() => host.kill(), RUN_MS_MAX);
  try {
    const finished = await host.run({ args, cwd, env: { ...withoutOptions(process.env), ...env } });
    idle.push(host);
    return finished;
  } finally {
    running.delete(host);
    clearTimeout(timer);
  }
}

/** What a shell makes of a line without quotes, such as `PETSTORE_PORT=1 serve --seed 3`. */
export function parseLine(line: string): { args: string[]; env: Record<string, string> } {
  const words = line.split(' ');
  const isVariable = (word: string) => /^PETSTORE_\w+=/.test(word);
  const variables = words.filter(isVariable).map((word) => word.split(/=(.*)/));
  return {
    args: words.filter((word) => !isVariable(word)),
    env: Object.fromEntries(variables),
  };
}

class Host {
  readonly #process: ChildProcess;
  #written = { stdout: '', stderr: '' };
  #status: number | undefined;
  #command = Promise.withResolvers<Finished>();

  constructor() {
    this.#process = fork(HOST, { execArgv: [], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    this.#process.unref();
    this.#process.channel?.unref();
    for (const name of ['stdout', 'stderr'] as const) {
      const stream = this.#process[name] as Socket;
      stream.unref();
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#written[name] += text;
        this.#finish();
      });
    }
    this.#process.on('message', (status: number) => {
      this.#status = status;
      this.#finish();
    });
    this.#process.on('exit', () => {
      const { stdout, stderr } = this.#written;
      this.#command.reject(
        new Error(`the command ended its host, or was late: ${stdout}${stderr}`),
      );
    });
  }

  run(command: Command): Promise<Finished> {
    this.#written = { stdout: '', stderr: '' };
    this.#status = undefined;
    this.#command = Promise.withResolvers();
    this.#process.send(command);
    return this.#command.promise;
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  #finish(): void {
    const { stdout, stderr } = this.#written;
    if (this.#status === undefined || !stdout.endsWith(END) || !stderr.endsWith(END)) return;
    this.#command.resolve({
      ...{ status: this.#status, signal: null },
      stdout: stdout.slice(0, -END.length),
      stderr: stderr.slice(0, -END.length),
    });
  }
}
