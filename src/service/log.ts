/** The log: JSON lines on standard error; plain text on a terminal. */

import { setTimeout as sleep } from 'node:timers/promises';
import pino, { type Logger } from 'pino';
import pretty from 'pino-pretty';
import type { LogLevel } from '../cli/options.ts';
import { LineWriter } from './log-writer.ts';

const STDERR = 2;
const CLOSE_MS_MAX = 1_000;

/** The log, and what writes its last lines; false when nobody takes them. */
export function openLog(level: LogLevel): { log: Logger; close: () => Promise<boolean> } {
  if (process.stderr.isTTY) {
    const stream = pretty({
      destination: STDERR,
      sync: true,
      ignore: 'pid,hostname',
      translateTime: 'SYS:HH:MM:ss',
      singleLine: true,
    });
    return { log: pino({ level }, stream), close: async () => true };
  }
  // Not pino's own destination: it measures all that it gathered anew with each line.
  const writer = new LineWriter(STDERR);
  process.on('exit', () => writer.flushSync());
  const log = pino({ level }, writer);
  const close = () => {
    // What is said from now on has nowhere to go.
    log.level = 'silent';
    return Promise.race([writer.flush().then(() => true), sleep(CLOSE_MS_MAX, false)]);
  };
  return { log, close };
}
