/** Writes that share one trip to the disk; how it is written is not known here. */

import { PetstoreError } from '../error.ts';
import type { Row } from './engine.ts';

/** What waits at most; more is refused at once. A create takes about 1 KiB at most. */
const WAITING_MAX = 10_000;
const WAITING_BYTES_MAX = 8 * 1024 * 1024;

interface Waiting<Write, Result> {
  readonly write: Write;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** How one of several writes of a trip ended. */
export type Outcome<Result> = { readonly result: Result } | { readonly error: unknown };

/**
 * Gathers what is to be written in a turn of the event loop, and for as long as a trip is under way,
 * and sends it as one. Each write gets its own outcome, once the whole trip is on the disk.
 *
 * @param send resolves to the outcomes in the order of the writes; when it fails, all have failed.
 * @throws PetstoreError `unavailable` when too much waits already.
 */
export function shareWrites<Write, Result>(
  send: (writes: readonly Write[]) => Promise<readonly Outcome<Result>[]>,
  toBytes: (write: Write) => number,
): (write: Write) => Promise<Result> {
  let waiting: Waiting<Write, Result>[] = [];
  let bytes = 0;
  let isUnderWay = false;

  async function go(): Promise<void> {
    while (waiting.length > 0) {
      const sent = take();
      try {
        settle(sent, await send(sent.map(({ write }) => write)));
      } catch (error) {
        // Who gathered meanwhile has waited as long, and would hear the same.
        for (const { reject } of [...sent, ...take()]) reject(error);
      }
    }
    isUnderWay = false;
  }

  function take(): Waiting<Write, Result>[] {
    const taken = waiting;
    waiting = [];
    bytes = 0;
    return taken;
  }

  return (write) => {
    const size = toBytes(write);
    if (waiting.length >= WAITING_MAX || bytes + size > WAITING_BYTES_MAX) {
      return Promise.reject(new PetstoreError('unavailable', 'too many writes wait for the disk'));
    }
    bytes += size;
    return new Promise((resolve, reject) => {
      waiting.push({ write, resolve, reject });
      if (isUnderWay) return;
      isUnderWay = true;
      setImmediate(go);
    });
  };
}

function settle<Write, Result>(
  sent: readonly Waiting<Write, Result>[],
  outcomes: readonly Outcome<Result>[],
): void {
  for (const [place, { resolve, reject }] of sent.entries()) {
    const outcome = outcomes[place];
    if (outcome === undefined) reject(new Error('a write has no outcome'));
    else if ('error' in outcome) reject(outcome.error);
    else resolve(outcome.result);
  }
}

/** About what a row takes while it waits. */
export function toRowBytes(row: Row): number {
  return row.reduce((bytes: number, value) => {
    return bytes + (typeof value === 'string' ? 2 * value.length : 32);
  }, 128);
}
