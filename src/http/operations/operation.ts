/** An operation: everything that its route, the document and its handler need. */

import type { FastifyReply } from 'fastify';
import type { PetstoreError } from '../../error.ts';
import type { JsonSchema } from '../../pet-field.ts';
import type { PetStore } from '../../store.ts';
import type { ComponentName } from '../components.ts';
import type { HeaderName } from '../headers.ts';
import type { SERVED_METHODS } from '../protocol/request-line.ts';

export interface OperationContext {
  readonly pets: PetStore;
  /** The outside address of the service up to `/v1`, or empty. */
  readonly base: string;
  readonly retireGetPet: boolean;
}

export interface Parameter<Value> {
  readonly place: 'path' | 'query' | 'header';
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
  readonly isBeta?: boolean;
  /** Gets the text in the request, or undefined without one. */
  readonly parse: (value: string | undefined) => Value;
}

export interface Deprecation {
  readonly since: Date;
  readonly sunset: Date;
  readonly isRetired: (context: OperationContext) => boolean;
}

/** The name of a component, or a schema that only this operation has, with its example. */
export type BodySchema = ComponentName | (JsonSchema & { readonly example: unknown });

/** The errors that the interface declares, and their shared names ("Errors"). */
export const SHARED_NAMES = {
  unauthorized: 'Unauthorized',
  bad_request: 'BadRequest',
  not_found: 'NotFound',
} as const;

export interface Operation<Input = Readonly<Record<string, unknown>>, Body = unknown> {
  readonly method: Exclude<(typeof SERVED_METHODS)[number], 'HEAD' | 'OPTIONS'>;
  /** Below `/v1`, as the document writes it. */
  readonly path: `/${string}`;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecation?: Deprecation;
  readonly parameters: { readonly [Name in keyof Input]: Parameter<Input[Name]> };
  readonly body?: { readonly schema: BodySchema; readonly parse: (value: object) => Body };
  readonly success: {
    readonly status: number;
    readonly description: string;
    /** Absent for an answer without a body, such as a 204. Then the handler returns an empty text. */
    readonly schema?: BodySchema;
    readonly headers?: readonly HeaderName[];
    readonly links?: Readonly<Record<string, object>>;
  };
  readonly ofInterface: readonly (keyof typeof SHARED_NAMES)[];
  /** The other errors, by status, without the errors of all operations. */
  readonly others: readonly PetstoreError[];

  /** The JSON text of the success, whose header fields it sets. */
  handle(
    context: OperationContext,
    input: Input & { readonly body: Body },
    reply: FastifyReply,
  ): Promise<string>;
}

/** Returns its argument; the types of the handler's input follow from the parsers. */
export function defineOperation<Input, Body = undefined>(operation: Operation<Input, Body>) {
  return operation;
}
