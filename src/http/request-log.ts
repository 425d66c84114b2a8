/** The lines of requests in the log, of which repeated refusals are counted in place of logged. */

import { ERRORS, type ErrorCode } from '../error.ts';
import type { Log, RequestLine } from '../log.ts';
import { REFUSALS_LOGGED_MAX, REFUSED_CLIENTS_MAX } from './limits.ts';

const WINDOW_MS = 1_000;

interface Refused {
  readonly client: string;
  readonly code: ErrorCode;
  count: number;
}

export interface RequestLog {
  /** Logs a request, unless many like it were refused in this second. */
  write(line: RequestLine): void;
  /** Logs what was counted. */
  flush(): void;
}

/** @param count gets every request, those too that are not logged. */
export function createRequestLog(
  log: Log,
  count: (line: RequestLine) => void = () => undefined,
): RequestLog {
  const refused = new Map<string, Refused>();
  let timer: NodeJS.Timeout | undefined;

  /** How many of that client and code there were in this second; those of too many clients count together. */
  function countRefused(client: string, code: ErrorCode): number {
    timer ??= setTimeout(flush, WINDOW_MS).unref();
    let found = refused.get(`${client} ${code}`);
    if (found === undefined) {
      const name = refused.size < REFUSED_CLIENTS_MAX ? client : 'others';
      found = refused.get(`${name} ${code}`) ?? { client: name, code, count: 0 };
      refused.set(`${name} ${code}`, found);
    }
    found.count += 1;
    return found.count;
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const { client, code, count } of refused.values()) {
      const leftOut = count - REFUSALS_LOGGED_MAX;
      const level = ERRORS[code].status < 500 ? 'info' : 'error';
      if (leftOut > 0) log[level]({ client, code, leftOut }, 'more refusals, not logged each');
    }
    refused.clear();
  }

  return {
    write(line) {
      count(line);
      const code = line.refusal?.code;
      const isLogged =
        code === undefined ||
        code === 'internal_error' ||
        countRefused(toNetwork(line.client), code) <= REFUSALS_LOGGED_MAX;
      if (isLogged) log.request(line);
    },
    flush,
  };
}

/** An IPv4 address, or the /64 of an IPv6 address, all of which one client may have. */
export function toNetwork(client: string): string {
  if (!client.includes(':')) return client;
  const [head = '', tail] = client.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const after = tail.split(':').length;
    while (groups.length < 8 - after) groups.push('0');
    groups.push(...tail.split(':'));
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** Version, trace id, parent id and flags, as lower-case digits, neither id all zero (W3C Trace Context). */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

/** The trace id of a `traceparent`; undefined when it is not valid. */
export function findTraceId(traceparent: string | string[] | undefined): string | undefined {
  return typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined;
}
