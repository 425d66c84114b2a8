/** The bytes that the service holds for its clients: bodies that are coming in, requests that wait unparsed, answers that are not read. */

import type { Socket } from 'node:net';
import { HELD_BYTES_MAX } from '../limits.ts';

interface Held {
  readonly address: string | undefined;
  readonly giveUp: () => void;
  bytes: number;
}

/** Holds at most HELD_BYTES_MAX. At this bound the address that holds the most bytes loses its oldest ones. */
export class HeldBytes {
  /** What was held first comes first. */
  readonly #held = new Map<object, Held>();
  #bytes = 0;

  /**
   * @param owner the request or response that the bytes belong to; it may hold more bytes later.
   * @param giveUp is called when the bytes must be given up.
   */
  hold(owner: object, bytes: number, socket: Socket, giveUp: () => void): void {
    const held = this.#held.get(owner) ?? { address: socket.remoteAddress, giveUp, bytes: 0 };
    held.bytes += bytes;
    this.#bytes += bytes;
    this.#held.set(owner, held);
    while (this.#bytes > HELD_BYTES_MAX) this.#makeRoom();
  }

  /** To be called when the bytes are used or sent; does nothing when there are none. */
  release(owner: object): void {
    this.#bytes -= this.#held.get(owner)?.bytes ?? 0;
    this.#held.delete(owner);
  }

  #makeRoom(): void {
    const bytesOf = new Map<string | undefined, number>();
    for (const { address, bytes } of this.#held.values()) {
      bytesOf.set(address, (bytesOf.get(address) ?? 0) + bytes);
    }
    const most = Math.max(...bytesOf.values());
    for (const [owner, { address, giveUp }] of this.#held) {
      if (this.#bytes <= HELD_BYTES_MAX) return;
      if (bytesOf.get(address) !== most) continue;
      this.release(owner);
      giveUp();
    }
  }
}
