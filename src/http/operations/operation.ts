/** What an operation is: all that the routes, the document and the handler need of it. */

import type { FastifyReply } from 'fastify';
import type { Schema } from '../../pet.ts';
import type { PetStore } from '../../store.ts';
import type { SERVED_METHODS } from '../protocol/methods.ts';
import type { DescribedError } from '../schemas/responses.ts';

/** What all operations work with. */
export interface OperationContext {
  readonly pets: PetStore;
  /** The outside address of the service up to `/v1`, or empty. */
  readonly base: string;
  /** Whether the operator has removed the operation getPet. */
  readonly retireGetPet: boolean;
  /** The time in milliseconds since 1970. */
  readonly now: () => number;
}

export interface Parameter<Value> {
  readonly place: 'path' | 'query' | 'header';
  readonly name: string;
  readonly description: string;
  readonly schema: Schema;
  readonly example?: unknown;
  readonly isBeta?: boolean;
  /**
   * The value for the handler, from the text in the request: undefined when there is none, an array
   * when a query has several.
   *
   * @throws PetstoreError for a wrong one; its message names the parameter.
   */
  readonly parse: (value: unknown) => Value;
}

/** An error of this operation; `unauthorized`, those of its body and the like are added to these. */
export interface OperationError extends DescribedError {
  /** What the interface says of it; absent when the interface does not declare the status. */
  readonly description?: string;
}

export interface Deprecation {
  readonly since: Date;
  /** When it is to be removed. */
  readonly sunset: Date;
  /** The option of `serve` that removes it. */
  readonly flag: string;
  readonly isRetired: (context: OperationContext) => boolean;
}

/** @typeParam Input the values of the parameters, by their names for the handler. */
export interface Operation<Input = Readonly<Record<string, unknown>>, Body = unknown> {
  readonly method: Exclude<(typeof SERVED_METHODS)[number], 'HEAD' | 'OPTIONS'>;
  /** Below `/v1`, as the document writes it. */
  readonly path: `/${string}`;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecation?: Deprecation;
  readonly parameters: { readonly [Name in keyof Input]: Parameter<Input[Name]> };
  readonly body?: {
    readonly schema: 'NewPet';
    readonly parse: (value: unknown) => Body;
  };
  readonly success: {
    readonly status: number;
    readonly description: string;
    readonly schema: 'Pet' | 'Pets';
    /** Those beside the fields that all answers have. */
    readonly headers?: Readonly<Record<string, object>>;
    readonly links?: Readonly<Record<string, object>>;
  };
  readonly errors: readonly OperationError[];

  /** The JSON text of the success. Sets the header fields of it that depend on the request. */
  handle(
    context: OperationContext,
    input: Input & { readonly body: Body },
    reply: FastifyReply,
  ): Promise<string>;
}

/** The operation as it is: the types of the handler's input follow from the parsers. */
export function defineOperation<Input, Body = undefined>(
  operation: Operation<Input, Body>,
): Operation<Input, Body> {
  return operation;
}
