/** The thread that writes, seen from the one that reads; what it does is in sqlite-writer.ts. */

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { PetstoreError } from '../../error.ts';
import type { Write, Written } from './writer-thread.ts';

/** TypeScript in the checkout, JavaScript in the package. */
const WRITER = new URL(`./writer-thread${extname(import.meta.url)}`, import.meta.url);

const ENDED = new PetstoreError('unavailable', 'the thread that writes has ended');

export class SqliteThread {
  readonly #file: string;
  #worker: Worker | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** The outcomes of one transaction. To be called again only once it is settled. */
  send(writes: readonly Write[]): Promise<readonly Written[]> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      const fail = (reason: unknown) => reject(reason instanceof Error ? reason : ENDED);
      worker.once('error', fail).once('exit', fail);
      worker.once('message', (written) => {
        worker.off('error', fail).off('exit', fail);
        resolve(written);
      });
      worker.postMessage(writes);
    });
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  /** It starts with the first write; one that broke is replaced by the next. */
  #start(): Worker {
    const worker = new Worker(WRITER, { workerData: this.#file });
    const forget = () => {
      if (this.#worker === worker) this.#worker = undefined;
    };
    worker.once('error', forget).once('exit', forget);
    return worker;
  }
}
