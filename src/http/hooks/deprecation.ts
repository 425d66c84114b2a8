/** The end of `GET /pets/{petId}`: deprecated since this product's release (RFC 9745), to be removed at SUNSET (RFC 8594). */

import type { HookHandlerDoneFunction as Done } from 'fastify';
import type { Log } from '../../log.ts';
import { createError } from '../errors.ts';

const DEPRECATED_SECONDS = Date.UTC(2026, 10, 21) / 1000;
export const SUNSET = new Date(Date.UTC(2030, 11, 5));
const REMINDER_MS_MIN = 24 * 60 * 60 * 1000;

export interface DeprecationOptions {
  /** The outside address of the service up to `/v1`, or empty. */
  readonly base: string;
  /** Whether the operator has removed the operation: then it answers 410. */
  readonly retireGetPet: boolean;
  readonly now: () => number;
}

/** The hook that adds the headers of a deprecated operation, and reminds the operator once a day after SUNSET. */
export function createDeprecation(log: Log, { base, retireGetPet, now }: DeprecationOptions) {
  const headers = {
    deprecation: `@${DEPRECATED_SECONDS}`,
    sunset: SUNSET.toUTCString(),
    link: `<${base}/docs>; rel="deprecation"; type="text/html"`,
  };
  let remindedAt = 0;

  return (_request: unknown, reply: { headers(values: typeof headers): unknown }, done: Done) => {
    reply.headers(headers);
    if (retireGetPet) throw createError('gone');
    if (now() >= SUNSET.getTime() && now() - remindedAt >= REMINDER_MS_MIN) {
      remindedAt = now();
      log.warn(
        'GET /v1/pets/{petId} is past its sunset and still called: --retire-get-pet removes it',
      );
    }
    done();
  };
}
