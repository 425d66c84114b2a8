/** The thread that writes, seen from the one that reads; what it does is in sqlite-writer.ts. */

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Write, Written } from './sqlite-writer.ts';

/** TypeScript in the checkout, JavaScript in the package. */
const WRITER = new URL(`./sqlite-writer${extname(import.meta.url)}`, import.meta.url);

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
      worker.once('message', (written) => {
        worker.off('error', reject);
        resolve(written);
      });
      worker.once('error', reject);
      worker.postMessage(writes);
    });
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  /** It starts with the first write; one that broke is replaced by the next. */
  #start(): Worker {
    const worker = new Worker(WRITER, { workerData: this.#file });
    worker.once('exit', () => {
      this.#worker = undefined;
    });
    return worker;
  }
}
