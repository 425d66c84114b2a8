/** The log: JSON lines on standard error, gathered so that a line costs little; plain text on a terminal. */

import pino, { type Logger } from 'pino';
import pretty from 'pino-pretty';
import type { LogLevel } from './config.ts';

/** Just below the 16 KiB of one write. */
const GATHERED_BYTES_MIN = 15 * 1024;
const FLUSH_MS = 200;
const CLOSE_MS_MAX = 1_000;
/** Lines are dropped above this, when nobody reads standard error. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

/** The log, and what writes its last lines; false when nobody takes them. */
export function openLog(level: LogLevel): { log: Logger; close: () => Promise<boolean> } {
  if (process.stderr.isTTY) {
    const stream = pretty({
      destination: 2,
      sync: true,
      ignore: 'pid,hostname',
      translateTime: 'SYS:HH:MM:ss',
      singleLine: true,
    });
    return { log: pino({ level }, stream), close: async () => true };
  }
  const destination = pino.destination({
    dest: 2,
    sync: false,
    minLength: GATHERED_BYTES_MIN,
    periodicFlush: FLUSH_MS,
    maxLength: WAITING_BYTES_MAX,
  });
  // The service outlives the reader of its log.
  destination.on('error', () => undefined);
  const log = pino({ level }, destination);
  const close = () =>
    new Promise<boolean>((resolve) => {
      // What is said from now on has nowhere to go.
      log.level = 'silent';
      destination.once('close', () => resolve(true));
      destination.once('error', () => resolve(true));
      destination.end();
      setTimeout(resolve, CLOSE_MS_MAX, false);
    });
  return { log, close };
}
