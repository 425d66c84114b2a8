/** Writes the lines of the log to a file descriptor, in the background and many at a time. */

import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { SERVICE_LIMITS } from './limits.ts';

const writeSome = promisify(fs.write);

/** A write begins when so many UTF-16 units are buffered, or so long after the first line. */
const BUFFERED_UNITS = 32 * 1024;
const BUFFERED_MS_MAX = 200;
/** The pause before the next write to a pipe that is full. */
const FULL_PIPE_MS = 10;
/** A line feed. */
const LINE_END = 10;

export class LogWriter {
  readonly #fd: number;
  readonly #describe: (dropped: number) => string;
  #buffer = '';
  dropped = 0;
  /** How many of these lines the log has told of. */
  #told = 0;
  /** The end of a line of which only a part was written, so that the next line begins at the start of a line. */
  #lineEnd = '';
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(fd: number, describe: (dropped: number) => string) {
    this.#fd = fd;
    this.#describe = describe;
  }

  write(line: string): void {
    // After a dropped line all lines are dropped, until the line that counts them is written.
    const isFull = this.#buffer.length + line.length > SERVICE_LIMITS.LOG_UNITS_MAX.value;
    if (isFull || this.dropped > this.#told) this.dropped += 1;
    else this.#buffer += line;
    this.#timer ??= setTimeout(() => this.flush(), BUFFERED_MS_MAX).unref();
    if (this.#buffer.length >= BUFFERED_UNITS && this.#writing === undefined) this.flush();
  }

  /** Resolves when the buffer is written, or dropped because its reader is gone or the disk is full. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#writing !== undefined) await this.#writing;
    this.#writing = this.#writeLines().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  /** Writes the buffer before it returns, for a process that is about to end. */
  flushSync(): void {
    try {
      fs.writeSync(this.#fd, this.#take());
    } catch {
      // The reader is gone, or the disk is full.
    }
  }

  #take(): string {
    const dropped = this.dropped - this.#told;
    const text = this.#lineEnd + this.#buffer + (dropped > 0 ? this.#describe(dropped) : '');
    this.#buffer = '';
    this.#told = this.dropped;
    return text;
  }

  async #writeLines(): Promise<void> {
    const told = this.#told;
    const lineEnd = this.#lineEnd;
    const bytes = Buffer.from(this.#take());
    const written = await writeBytes(this.#fd, bytes);
    if (written > 0) this.#lineEnd = bytes[written - 1] === LINE_END ? '' : '\n';
    if (written === bytes.length) return;
    const lost = bytes.subarray(Math.max(written, lineEnd.length));
    // The last line may be the line that tells of the lines before.
    const isTelling = this.#told > told ? 1 : 0;
    this.dropped += lost.filter((byte) => byte === LINE_END).length - isTelling;
    this.#told = told;
  }
}

/** Resolves to how many of the bytes were written: to fewer if the reader is gone, or the disk is full. */
async function writeBytes(fd: number, bytes: Buffer): Promise<number> {
  let written = 0;
  while (written < bytes.length) {
    try {
      written += (await writeSome(fd, bytes, written)).bytesWritten;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') break;
      await sleep(FULL_PIPE_MS);
    }
  }
  return written;
}
