/** The writer: sends transactions to the thread that executes them (writer-thread.ts). */

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { PetstoreError } from '../../error.ts';
import type { Failure, Write, Written } from './writer-thread.ts';

/** TypeScript in the checkout, JavaScript in the package. */
const THREAD = new URL(`./writer-thread${extname(import.meta.url)}`, import.meta.url);

const ENDED = new PetstoreError('unavailable', 'the thread that writes has ended');

export class SqliteWriter {
  readonly #file: string;
  #thread: Worker | undefined;

  /** @param file an absolute path. */
  constructor(file: string) {
    this.#file = file;
  }

  /** The outcomes of the writes of one transaction, or why the transaction failed. One call at a time. */
  commit(writes: readonly Write[]): Promise<readonly Written[] | Failure> {
    this.#thread ??= this.#start();
    const thread = this.#thread;
    return new Promise((resolve, reject) => {
      const fail = (reason: unknown) => reject(reason instanceof Error ? reason : ENDED);
      thread.once('error', fail).once('exit', fail);
      thread.once('message', (written) => {
        thread.off('error', fail).off('exit', fail);
        resolve(written);
      });
      thread.postMessage(writes);
    });
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  /** The thread starts with the first write; after a failure the next write starts a new one. */
  #start(): Worker {
    const thread = new Worker(THREAD, { workerData: this.#file });
    const forget = () => {
      if (this.#thread === thread) this.#thread = undefined;
    };
    thread.once('error', forget).once('exit', forget);
    return thread;
  }
}
