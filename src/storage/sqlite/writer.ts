/** The writer: sends transactions to the thread that executes them (writer-thread.ts). */

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Failure, Write, Written } from './writer-thread.ts';

/** TypeScript in the checkout, JavaScript in the package. */
const THREAD = new URL(`./writer-thread${extname(import.meta.url)}`, import.meta.url);

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
      thread.once('error', reject);
      thread.once('message', (written) => {
        thread.off('error', reject);
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
    thread.once('error', () => {
      this.#thread = undefined;
    });
    return thread;
  }
}
