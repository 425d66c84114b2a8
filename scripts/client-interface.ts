/** Writes `client/interface.ts`: the fields, query of a list and codes of the service. The client may not import `src/`. */

import { ERRORS } from '../src/error.ts';
import { NEW_PET_FIELDS, type NewPetField } from '../src/pet.ts';
import { LIST_QUERY } from '../src/pet-query.ts';

const HEAD =
  '/** The fields, query of a list and error codes of the service. `npm run generate` writes this file. */';

export function writeClientInterface(): string {
  const parts = [...writeEnums(), ...writePets(), writeQuery(), writeFields(), writeCodes()];
  return `${[HEAD, ...parts].join('\n\n')}\n`;
}

function writeEnums(): readonly string[] {
  return NEW_PET_FIELDS.flatMap(({ schemaName, schema }) =>
    schemaName === undefined || schema.enum === undefined
      ? []
      : [`export type ${schemaName} = ${schema.enum.map(quote).join(' | ')};`],
  );
}

function writePets(): readonly string[] {
  const members = NEW_PET_FIELDS.map(
    (field) =>
      `  /** ${field.schema.description} */\n` +
      `  readonly ${field.name}${field.optional ? '?' : ''}: ${toType(field)};`,
  );
  return [
    `export interface NewPetFields<Integer> {\n${members.join('\n')}\n}`,
    'export interface PetFields<Integer> extends NewPetFields<Integer> {\n  readonly id: Integer;\n}',
  ];
}

function writeQuery(): string {
  const members = LIST_QUERY.map(
    ({ name, description, ...member }) =>
      `  /** ${description} */\n  readonly ${name}?: ${toQueryType(member)} | undefined;`,
  );
  return `export interface ListQuery {\n${members.join('\n')}\n}`;
}

function toQueryType({
  schema,
  schemaName,
}: Pick<(typeof LIST_QUERY)[number], 'schema' | 'schemaName'>) {
  if (schemaName !== undefined) return schemaName;
  if (Array.isArray(schema.enum)) return schema.enum.map(quote).join(' | ');
  if (schema.type === 'integer') return schema.format === 'int64' ? 'bigint | number' : 'number';
  return 'string';
}

function toType({ kind, schemaName }: NewPetField): string {
  return kind === 'int64' ? 'Integer' : (schemaName ?? 'string');
}

function writeFields(): string {
  const members = NEW_PET_FIELDS.map(({ name, kind }) => `  ${name}: '${kind}',`);
  return `export const FIELD_KINDS = {\n  id: 'int64',\n${members.join('\n')}\n} as const;`;
}

function writeCodes(): string {
  return `export type ErrorCode =\n${Object.keys(ERRORS)
    .map((code) => `  | ${quote(code)}`)
    .join('\n')};`;
}

function quote(text: string): string {
  return `'${text}'`;
}
