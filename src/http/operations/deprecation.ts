/** The end of a deprecated operation: its header fields (RFC 9745, RFC 8594), and the operator's reminder. */

import type { HookHandlerDoneFunction as Done, FastifyInstance, FastifyReply } from 'fastify';
import { createError } from '../errors.ts';
import type { Deprecation, Operation, OperationContext } from './operation.ts';

const REMINDER_MS_MIN = 24 * 60 * 60 * 1000;

/** The hook that tells clients, answers 410 when the operator has removed it, and reminds once a day after its sunset. */
export function createDeprecation(
  { method, path }: Operation,
  { since, sunset, flag, isRetired }: Deprecation,
  context: OperationContext,
  { petstoreLog }: FastifyInstance,
) {
  const headers = {
    deprecation: `@${since.getTime() / 1000}`,
    sunset: sunset.toUTCString(),
    link: `<${context.base}/docs>; rel="deprecation"; type="text/html"`,
  };
  let remindedAt = 0;

  return (_request: unknown, reply: FastifyReply, done: Done) => {
    reply.headers(headers);
    if (isRetired(context)) throw createError('gone');
    const now = context.now();
    if (now >= sunset.getTime() && now - remindedAt >= REMINDER_MS_MIN) {
      remindedAt = now;
      petstoreLog.warn(
        `${method} /v1${path} is past its sunset and still called: ${flag} removes it`,
      );
    }
    done();
  };
}
