/** Joins the parts of a body into one buffer as they come. */

import { PetstoreError } from '../../error.ts';
import { LIMITS } from '../limits.ts';
import type { HeldBytes } from './held-bytes.ts';
import { IncomingMessage } from './node-http.ts';

type OnBody = (error: Error | null, body?: Buffer) => void;

const EMPTY = Buffer.alloc(0);
const TOO_MANY_PARTS = new PetstoreError(
  'payload_too_large',
  `the body must come in at most ${LIMITS.BODY_PARTS_MAX} parts`,
);
const GIVEN_UP = new PetstoreError('unavailable', 'too many bodies are coming in');
const FORGOTTEN = new PetstoreError('bad_request', 'the body came after the answer');
const ignore: OnBody = () => undefined;

/** A request that keeps its body as one buffer: Node makes an object of 200 bytes for each part, also for a single byte. */
export abstract class BodyRequest extends IncomingMessage {
  abstract readonly heldBytes: HeldBytes;
  #body: Buffer = EMPTY;
  #length = 0;
  #parts = 0;
  #refusal: PetstoreError | undefined;
  #onBody = ignore;

  /** Is called by Node's parser with each part, and with null at the end. */
  override push(part: Buffer | null): boolean {
    if (part === null) return super.push(null);
    if (this.#refusal !== undefined) return false;
    this.#parts += 1;
    if (this.#length + part.length > LIMITS.BODY_BYTES_MAX)
      this.#refuse(new PetstoreError('payload_too_large'));
    else if (this.#parts > LIMITS.BODY_PARTS_MAX) this.#refuse(TOO_MANY_PARTS);
    else this.#join(part);
    return this.#refusal === undefined;
  }

  /** Calls back once: with the whole body, or with the reason why there is none. */
  readBody(onBody: OnBody): void {
    this.#onBody = onBody;
    const isTooLong = Number(this.headers['content-length']) > LIMITS.BODY_BYTES_MAX;
    if (isTooLong) this.#refusal = new PetstoreError('payload_too_large');
    if (this.#refusal !== undefined) {
      this.#finish(this.#refusal);
      return;
    }
    this.once('end', () => this.#finish(null)).once('error', (error) => this.#finish(error));
    this.resume();
  }

  /** To be called when the answer does not need the body: it is dropped, and so is the rest that comes. */
  forget(): void {
    this.#refuse(FORGOTTEN);
  }

  /** Drops the body. Every reader of the body, now or later, gets this error. */
  #refuse(error: PetstoreError): void {
    this.#refusal = error;
    this.#finish(error);
  }

  #finish(error: Error | null): void {
    const onBody = this.#onBody;
    const body = this.#body.subarray(0, this.#length);
    this.heldBytes.release(this);
    this.#onBody = ignore;
    this.#body = EMPTY;
    onBody(error, body);
  }

  #join(part: Buffer): void {
    if (this.#parts === 1) this.once('close', () => this.heldBytes.release(this));
    const length = this.#length + part.length;
    if (length > this.#body.length) {
      const joined = Buffer.allocUnsafe(Math.min(2 * length, LIMITS.BODY_BYTES_MAX));
      this.#body.copy(joined);
      this.#body = joined;
    }
    part.copy(this.#body, this.#length);
    this.#length = length;
    // This comes last: it may give up this same body.
    this.heldBytes.hold(this, part.length, this.socket, () => this.#refuse(GIVEN_UP));
  }
}

/** The class of the requests of one server. */
export function createRequestClass(heldBytes: HeldBytes): typeof IncomingMessage {
  return class extends BodyRequest {
    override readonly heldBytes = heldBytes;
  };
}
