/** The bytes that the service holds for its clients: incoming bodies, requests that wait unparsed, unread answers. */

import type { Socket } from 'node:net';
import { LIMITS } from '../limits.ts';

/** The clients of one address. */
interface Address {
  readonly name: string | undefined;
  /** By owner; the oldest comes first. */
  readonly held: Map<object, Held>;
  bytes: number;
}

interface Held {
  readonly address: Address;
  readonly giveUp: () => void;
  bytes: number;
}

/** Holds at most HELD_BYTES_MAX. Above this bound, the address with the most bytes loses its oldest bytes. */
export class HeldBytes {
  readonly #addresses = new Map<string | undefined, Address>();
  readonly #held = new Map<object, Held>();
  #bytes = 0;

  /**
   * @param owner the request or response of the bytes; more bytes may be added to the same owner later.
   * @param giveUp is called when the bytes must be given up.
   */
  hold(owner: object, bytes: number, { remoteAddress: name }: Socket, giveUp: () => void): void {
    const held = this.#held.get(owner) ?? this.#add(owner, name, giveUp);
    held.bytes += bytes;
    held.address.bytes += bytes;
    this.#bytes += bytes;
    while (this.#bytes > LIMITS.HELD_BYTES_MAX) this.#makeRoom();
  }

  /** To be called when the bytes are used or sent; does nothing when there are none. */
  release(owner: object): void {
    const held = this.#held.get(owner);
    if (held === undefined) return;
    const { address, bytes } = held;
    this.#held.delete(owner);
    address.held.delete(owner);
    address.bytes -= bytes;
    this.#bytes -= bytes;
    if (address.held.size === 0) this.#addresses.delete(address.name);
  }

  #add(owner: object, name: string | undefined, giveUp: () => void): Held {
    const address = this.#addresses.get(name) ?? { name, held: new Map(), bytes: 0 };
    const held = { address, giveUp, bytes: 0 };
    this.#addresses.set(name, address);
    address.held.set(owner, held);
    this.#held.set(owner, held);
    return held;
  }

  #makeRoom(): void {
    let most: Address | undefined;
    for (const address of this.#addresses.values()) {
      if (most === undefined || address.bytes > most.bytes) most = address;
    }
    for (const [owner, { giveUp }] of most?.held ?? []) {
      this.release(owner);
      giveUp();
      return;
    }
  }
}
