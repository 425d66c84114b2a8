/** The bytes that the service holds for its clients: bodies that are coming in, requests that wait unparsed, answers that are not read. */

import type { Socket } from 'node:net';
import { HELD_BYTES_MAX } from '../limits.ts';

interface Held {
  readonly address: string | undefined;
  readonly giveUp: () => void;
  bytes: number;
}

/** Holds at most HELD_BYTES_MAX. At this bound the address with the most bytes loses the oldest of them. */
export class HeldBytes {
  /** What was held first comes first. */
  readonly #held = new Map<object, Held>();
  #bytes = 0;

  /**
   * @param what the request, response or connection that they belong to, which may get more later.
   * @param giveUp is called when they must be given up.
   */
  hold(what: object, bytes: number, socket: Socket, giveUp: () => void): void {
    const held = this.#held.get(what) ?? { address: socket.remoteAddress, giveUp, bytes: 0 };
    held.bytes += bytes;
    this.#bytes += bytes;
    this.#held.set(what, held);
    while (this.#bytes > HELD_BYTES_MAX) this.#makeRoom();
  }

  /** To be called when the bytes are used or sent; does nothing when there are none. */
  release(what: object): void {
    this.#bytes -= this.#held.get(what)?.bytes ?? 0;
    this.#held.delete(what);
  }

  #makeRoom(): void {
    const bytesOf = new Map<string | undefined, number>();
    for (const { address, bytes } of this.#held.values()) {
      bytesOf.set(address, (bytesOf.get(address) ?? 0) + bytes);
    }
    const most = Math.max(...bytesOf.values());
    for (const [what, { address, giveUp }] of this.#held) {
      if (this.#bytes <= HELD_BYTES_MAX) return;
      if (bytesOf.get(address) !== most) continue;
      this.release(what);
      giveUp();
    }
  }
}
