/** The log lines of requests. Repeated refusals are counted in place of logged. */

import type { FastifyRequest } from 'fastify';
import { ERRORS, type ErrorCode } from '../error.ts';
import type { Log, RequestLine } from '../log.ts';

const WINDOW_MS = 1_000;
/** Refusals of a client and code that are logged in a second: a client must not fill the log. */
const REFUSALS_LOGGED_MAX = 5;
/** The most clients and codes that are counted each by itself. */
const REFUSED_CLIENTS_MAX = 100;

/** Version, trace id, parent id and flags, as lower-case digits, neither id all zero (W3C Trace Context). */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

export class RequestLog {
  readonly #log: Log;
  readonly #count: (line: RequestLine) => void;
  readonly #refused = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  /** @param count gets every request, logged or not. */
  constructor(log: Log, count: (line: RequestLine) => void = () => undefined) {
    this.#log = log;
    this.#count = count;
  }

  writeAnswer(request: FastifyRequest, status: number): void {
    this.write({
      client: request.client,
      method: request.method,
      route: request.routeOptions.url,
      status,
      ms: performance.now() - request.startedAt,
      requestId: request.id,
      keyId: request.keyId,
      traceId: TRACEPARENT.exec(String(request.headers.traceparent))?.[1],
      refusal: request.refusal ?? undefined,
    });
  }

  /** Logs a request, unless many like it were refused in this second. */
  write(line: RequestLine): void {
    this.#count(line);
    const code = line.refusal?.code;
    const isLogged =
      code === undefined || this.#countRefused(line.client, code) <= REFUSALS_LOGGED_MAX;
    if (isLogged) this.#log.request(line);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [name, count] of this.#refused) {
      const [client, code] = name.split(' ') as [string, ErrorCode];
      const leftOut = count - REFUSALS_LOGGED_MAX;
      const level = ERRORS[code].status < 500 ? 'info' : 'error';
      if (leftOut > 0) this.#log[level]('more refusals, only counted', { client, code, leftOut });
    }
    this.#refused.clear();
  }

  /** The number of refusals of the client and code in this second. Clients above the limit count together. */
  #countRefused(client: string, code: ErrorCode): number {
    this.#timer ??= setTimeout(() => this.flush(), WINDOW_MS).unref();
    const own = `${client} ${code}`;
    const isCounted = this.#refused.has(own) || this.#refused.size < REFUSED_CLIENTS_MAX;
    const name = isCounted ? own : `others ${code}`;
    const count = (this.#refused.get(name) ?? 0) + 1;
    this.#refused.set(name, count);
    return count;
  }
}
