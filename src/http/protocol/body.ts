/** Bodies: which ones are too long or come in too many parts, and how the parts are joined as they come. */

import type { FastifyInstance } from 'fastify';
import { PetstoreError } from '../../error.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { StoppableRequest } from './one-request.ts';

const BYTES_MAX = HTTP_LIMITS.BODY_BYTES_MAX.value;
const PARTS_MAX = HTTP_LIMITS.BODY_PARTS_MAX.value;
const TOO_LONG = new PetstoreError('payload_too_large');
const TOO_MANY_PARTS = new PetstoreError(
  'payload_too_large',
  `the body must come in at most ${PARTS_MAX} chunks or packets`,
);

type OnBody = (error: Error | null, body?: Buffer) => void;

/** A request that keeps its body as one buffer: Node makes an object of 200 bytes for each part, also for a single byte. */
export class BodyRequest extends StoppableRequest {
  /** Asks for the body of a client that waits with it (RFC 9110 section 10.1.1). */
  sendContinue: (() => void) | undefined;
  /** Has room for the whole body, and for no more than a body may have. */
  #body: Buffer | undefined;
  #length = 0;
  #parts = 0;
  #refusal: PetstoreError | undefined;
  #onBody: OnBody | undefined;

  /** Is called by Node's parser with each part, and with null at the end. */
  override push(part: Buffer | null): boolean {
    if (part === null) return super.push(null);
    if (this.#refusal !== undefined) return false;
    const { 'content-length': announced = BYTES_MAX } = this.headers;
    this.#body ??= Buffer.allocUnsafe(Math.min(Number(announced), BYTES_MAX));
    const copied = part.copy(this.#body, this.#length);
    this.#length += copied;
    this.#parts += 1;
    if (copied < part.length) this.refuse(TOO_LONG);
    else if (this.#parts > PARTS_MAX) this.refuse(TOO_MANY_PARTS);
    return this.#refusal === undefined;
  }

  /** Calls back once: with the whole body, or with the reason why there is none. */
  readBody(onBody: OnBody): void {
    this.#onBody = onBody;
    if (Number(this.headers['content-length']) > BYTES_MAX) this.#refusal = TOO_LONG;
    if (this.#refusal !== undefined) {
      this.#finish(this.#refusal);
      return;
    }
    this.sendContinue?.();
    this.once('end', () => this.#finish(null)).once('error', (error) => this.#finish(error));
    this.resume();
  }

  /** Drops the body, and the rest that comes. Every reader of the body, now or later, gets this error. */
  refuse(error: PetstoreError): void {
    this.#refusal = error;
    this.#finish(error);
  }

  #finish(error: Error | null): void {
    const onBody = this.#onBody;
    const body = this.#body?.subarray(0, this.#length);
    this.#onBody = undefined;
    this.#body = undefined;
    onBody?.(error, body);
  }
}

/** Makes Fastify hand over every body as bytes; the handler parses them, after all hooks. */
export function addBytesParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, raw, done) => (raw as BodyRequest).readBody(done));
}
