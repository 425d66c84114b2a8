/** The port to the log: a line for each request, and lines of other events. */

import type { ErrorCode } from './error.ts';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Why a request was refused; only the operator sees it. */
export interface Refusal {
  readonly code: ErrorCode;
  /** Holds nothing that the client sent. */
  readonly reason?: string | undefined;
  readonly err?: unknown;
}

/** What is logged of a request. Only the texts of its refusal may need an escape in JSON. */
export interface RequestLine {
  readonly client: string;
  /** Absent, like `route` and `ms`, when the parser refused the request. */
  readonly method?: string;
  /** As it is registered, such as `/v1/pets/:petId`; also absent for an unknown path. */
  readonly route?: string | undefined;
  readonly status: number;
  readonly ms?: number;
  readonly requestId: string;
  /** The key's id; null when it is not known. */
  readonly keyId: number | null;
  /** The client's trace id (W3C Trace Context): 32 hexadecimal digits. */
  readonly traceId?: string | undefined;
  readonly refusal?: Refusal | undefined;
}

/** What a line tells beside its message; `err` is what was thrown. */
export type Fields = Readonly<Record<string, unknown>>;

type WriteLine = (message: string, fields?: Fields) => void;

export interface Log {
  readonly error: WriteLine;
  readonly warn: WriteLine;
  readonly info: WriteLine;
  /** Logs a request: as an error when the service could not answer it. */
  request(line: RequestLine): void;
}
