/** Refusals that wait: at once, each would cost as much as a list, from a client that then sends the next request. */

import type { ServerResponse } from 'node:http';
import { REFUSE_MS } from '../limits.ts';

const waiting = new WeakSet<ServerResponse>();

/** Calls what sends the refusal, after REFUSE_MS. */
export function refuseLater(response: ServerResponse, refuse: () => void): void {
  waiting.add(response);
  setTimeout(refuse, REFUSE_MS);
}

/** Whether it is a refusal that waits, or has waited. */
export function isRefused(response: ServerResponse): boolean {
  return waiting.has(response);
}
