/** Writes lines to a file descriptor in the background, many at a time, so that a line costs its caller little. */

import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const write = promisify(fs.write);

/** Lines are gathered until they are so long, in UTF-16 units, or so old. */
const GATHERED_UNITS = 32 * 1024;
const GATHERED_MS_MAX = 200;
/** What waits at most, when nobody reads; lines above it are dropped. */
const WAITING_UNITS_MAX = 8 * 1024 * 1024;
/** How long a pipe that is full is left alone. */
const FULL_MS = 10;

export class LineWriter {
  readonly #fd: number;
  #waiting = '';
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Takes a line, its end included. Lines are written in their order. */
  write(line: string): void {
    if (this.#waiting.length + line.length > WAITING_UNITS_MAX) return;
    this.#waiting += line;
    this.#timer ??= setTimeout(() => this.flush(), GATHERED_MS_MAX).unref();
    if (this.#waiting.length >= GATHERED_UNITS && this.#writing === undefined) this.#send();
  }

  /** Resolves once all that waits is written, or lost because nobody can take it. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#writing !== undefined) await this.#writing;
    await this.#send();
  }

  /** The same in the caller's time, for a process that ends now. */
  flushSync(): void {
    try {
      fs.writeSync(this.#fd, this.#waiting);
    } catch {
      // Whoever read it is gone.
    }
    this.#waiting = '';
  }

  #send(): Promise<void> {
    const bytes = Buffer.from(this.#waiting);
    this.#waiting = '';
    this.#writing = this.#writeBytes(bytes).finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeBytes(bytes: Buffer): Promise<void> {
    for (let written = 0; written < bytes.length; ) {
      try {
        written += (await write(this.#fd, bytes, written)).bytesWritten;
      } catch (error) {
        // A reader that is gone, a full disk: the service outlives its log.
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
        await sleep(FULL_MS);
      }
    }
  }
}
