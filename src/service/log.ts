/** The log: JSON lines on standard error, readable text when that is a terminal. */

import { setTimeout as sleep } from 'node:timers/promises';
import pino, { type Logger } from 'pino';
import pretty from 'pino-pretty';
import { LogWriter } from './log-writer.ts';
import type { LogLevel } from './service.ts';

const STDERR = 2;
const CLOSE_MS_MAX = 1_000;

/** The log, and a `close` that writes its last lines; it resolves to false when they cannot be written in time. */
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
  // Pino's own destination measures its whole buffer at each line, which takes quadratic time.
  const writer = new LogWriter(STDERR);
  process.on('exit', () => writer.flushSync());
  const log = pino({ level }, writer);
  const close = () => {
    // Later lines would be lost anyway.
    log.level = 'silent';
    return Promise.race([writer.flush().then(() => true), sleep(CLOSE_MS_MAX, false)]);
  };
  return { log, close };
}
