/** The log: JSON lines on standard error, or readable text if standard error is a terminal. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Fields, LOG_LEVELS, type Log, type LogLevel } from '../log.ts';
import { createJsonLines, createTextLines, type LogFormat, toFactLines } from './log-format.ts';
import { LogWriter } from './log-writer.ts';

const STDERR = 2;
const CLOSE_MS_MAX = 1_000;

function toLevels(level: LogLevel): ReadonlySet<LogLevel> {
  return new Set(level === 'silent' ? [] : LOG_LEVELS.slice(0, LOG_LEVELS.indexOf(level) + 1));
}

/** A log of the lines of this level and above. `write` gets each line with its line end. */
export function createLog(
  level: LogLevel,
  write: (line: string) => void,
  format: LogFormat = createJsonLines(),
): Log {
  const levels = toLevels(level);
  const at =
    (other: LogLevel) =>
    (message: string, fields: Fields = {}) => {
      if (levels.has(other)) write(format.event(other, message, fields));
    };
  return {
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    request(line) {
      const other = line.status < 500 ? 'info' : 'error';
      if (levels.has(other)) write(format.request(other, line));
    },
  };
}

export type OpenLog = ReturnType<typeof openLog>;

export function openLog(level: LogLevel) {
  const { stdout, stderr } = process;
  const format = stderr.isTTY ? createTextLines() : createJsonLines();
  const writer = new LogWriter(STDERR, (dropped) =>
    format.event('warn', 'lines were dropped: nobody read the log, or its disk was full', {
      dropped,
    }),
  );
  process.on('exit', () => writer.flushSync());
  const log = createLog(level, (line) => writer.write(line), format);
  const isLogged = !stdout.isTTY && !stderr.isTTY && toLevels(level).has('info');
  return {
    log,
    /** Tells what started, and facts of it: in the log if programs read it, else on standard output, a fact in a line. */
    say(what: string, facts: Readonly<Record<string, string>>): void {
      if (isLogged) log.info(what, facts);
      else stdout.write(`${what}\n${toFactLines(facts)}`);
    },
    countDropped: () => writer.dropped,
    /** Writes the last lines. Resolves to false if they cannot be written in time. */
    close: () => Promise.race([writer.flush().then(() => true), sleep(CLOSE_MS_MAX, false)]),
  };
}
