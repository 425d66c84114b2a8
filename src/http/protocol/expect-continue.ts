/** `Expect: 100-continue` (RFC 9110 section 10.1.1): a client that waits to be asked for its body. */

import type { HookHandlerDoneFunction as Done, FastifyReply, FastifyRequest } from 'fastify';

/** The hook that sends `100 Continue`; as it runs before parsing, the headers were accepted by then. */
export function send100Continue(
  request: FastifyRequest,
  reply: FastifyReply,
  _body: unknown,
  done: Done,
): void {
  const isWaiting = /^100-continue$/i.test(request.headers.expect ?? '');
  // HTTP/1.0 has no 1xx responses.
  if (isWaiting && request.raw.httpVersionMinor > 0) reply.raw.writeContinue();
  done();
}
