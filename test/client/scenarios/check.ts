/** What scenarios compare with, on every runtime: browsers have no `node:assert`. */

import type * as Client from '../../../client/petstore-client.ts';

/** What a scenario runs on. */
export interface Place {
  readonly client: typeof Client;
  readonly runtime: 'node' | 'bun' | 'deno' | 'browser';
  /** The real service. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Nothing listens there. */
  readonly closedUrl: string;
  /** A server that never answers. */
  readonly silentUrl: string;
  /** A server that answers with a pet for each header field it got. */
  readonly echoUrl: string;
}

/** Why a service that is busy refuses. */
export const BUSY = '{"code":"unavailable","message":"later","status":503}';

export function open({ client, baseUrl, apiKey }: Place, options: object = {}) {
  return new client.PetstoreClient({ baseUrl, apiKey, ...options });
}

type Fetch = typeof fetch;

/** A client whose requests `answer` answers, with the number of the request. */
export function openAnswered(
  place: Place,
  answer: (count: number, ...args: Parameters<Fetch>) => Promise<Response>,
  options: object = {},
) {
  let count = 0;
  const counting: Fetch = (...args) => {
    count += 1;
    return answer(count, ...args);
  };
  return { petstore: open(place, { ...options, fetch: counting }), count: () => count };
}

export type Scenarios = Readonly<Record<string, (place: Place) => Promise<void>>>;

export function equal(actual: unknown, expected: unknown): void {
  const [is, should] = [show(actual), show(expected)];
  if (is !== should) throw new Error(`should be: ${should}\nis: ${is}`);
}

/** Compares the members of the error that `expected` has; a message may be a regular expression. */
export async function fails(
  call: () => unknown,
  { message, ...expected }: Readonly<Record<string, unknown>>,
): Promise<void> {
  let error: Readonly<Record<string, unknown>>;
  try {
    error = { error: `none, but ${show(await call())}` };
  } catch (thrown) {
    error = thrown as typeof error;
  }
  equal(Object.fromEntries(Object.keys(expected).map((name) => [name, error[name]])), expected);
  if (message instanceof RegExp && !message.test(String(error.message))) {
    throw new Error(`should match: ${message}\nis: ${error.message}`);
  }
}

function show(value: unknown): string {
  const sorted = (_name: string, member: unknown) => {
    if (typeof member === 'bigint') return `${member}n`;
    if (member === undefined) return 'undefined';
    if (member === null || typeof member !== 'object' || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  };
  return JSON.stringify(value, sorted) ?? 'undefined';
}
