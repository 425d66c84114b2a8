/** The bytes that the service holds for its clients: incoming bodies, requests that wait unparsed, unread answers. */

import type { Socket } from 'node:net';
import { LIMITS } from '../limits.ts';

interface Held {
  readonly address: string | undefined;
  readonly giveUp: () => void;
  bytes: number;
}

/** Holds at most HELD_BYTES_MAX. Above this bound, the address with the most bytes loses its oldest bytes. */
export class HeldBytes {
  /** By owner; the oldest comes first. */
  readonly #held = new Map<object, Held>();
  readonly #bytesOfAddress = new Map<string | undefined, number>();
  #bytes = 0;

  /**
   * @param owner the request or response of the bytes; more bytes may be added to the same owner later.
   * @param giveUp is called when the bytes must be given up.
   */
  hold(owner: object, bytes: number, { remoteAddress }: Socket, giveUp: () => void): void {
    const held = this.#held.get(owner) ?? { address: remoteAddress, giveUp, bytes: 0 };
    this.#held.set(owner, held);
    this.#count(held, bytes);
    while (this.#bytes > LIMITS.HELD_BYTES_MAX) this.#makeRoom();
  }

  /** To be called when the bytes are used or sent; does nothing when there are none. */
  release(owner: object): void {
    const held = this.#held.get(owner);
    if (held === undefined) return;
    this.#held.delete(owner);
    this.#count(held, -held.bytes);
  }

  #count(held: Held, bytes: number): void {
    held.bytes += bytes;
    this.#bytes += bytes;
    const ofAddress = (this.#bytesOfAddress.get(held.address) ?? 0) + bytes;
    if (ofAddress > 0) this.#bytesOfAddress.set(held.address, ofAddress);
    else this.#bytesOfAddress.delete(held.address);
  }

  #makeRoom(): void {
    const most = this.#bytesOfAddress.values().reduce((left, right) => Math.max(left, right), 0);
    for (const [owner, { address, giveUp }] of this.#held) {
      if (this.#bytesOfAddress.get(address) !== most) continue;
      this.release(owner);
      giveUp();
      return;
    }
  }
}
