/** A JSON Schema that carries the parser of what it describes: the schema documents, the parser decides. */

import type { FastifySchema, FastifySchemaCompiler, FastifyTypeProvider } from 'fastify';

const PARSE = Symbol('parse');
declare const VALUE: unique symbol;

/** A JSON Schema of a T, which only the compiler knows. */
export interface Schema<T = unknown> {
  readonly [keyword: string]: unknown;
  readonly [VALUE]?: T;
}

/** A schema with its parser under PARSE, since JSON Schema cannot check the digits of an int64. */
type ParsedSchema<T> = Schema & { readonly [PARSE]: (value: unknown) => T };

export function parsedBy<T>(parse: (value: unknown) => T, schema: Schema): ParsedSchema<T> {
  return { ...schema, [PARSE]: parse };
}

/** Types each part of a request as the result of its parser, and each answer by its schema. */
export interface PetstoreTypeProvider extends FastifyTypeProvider {
  readonly validator: this['schema'] extends ParsedSchema<infer T> ? T : unknown;
  readonly serializer: this['schema'] extends Schema<infer T> ? T : unknown;
}

/** Makes Fastify validate each part of a request by the parser of its schema. */
export const compileValidator: FastifySchemaCompiler<
  FastifySchema & Partial<ParsedSchema<unknown>>
> = ({ schema }) => {
  const parse = schema[PARSE];
  if (parse === undefined) throw new Error('the schema of a request carries no parser');
  return (value: unknown) => {
    try {
      return { value: parse(value) };
    } catch (error) {
      return { error: error as Error };
    }
  };
};
