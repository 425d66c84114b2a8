/** Writes `client/interface.ts`: the fields, filters and codes of the service. The client may not import `src/`. */

import { ERRORS } from '../src/error.ts';
import { NEW_PET_FIELDS, type NewPetField, PET_FILTERS } from '../src/pet.ts';

const HEAD =
  '/** The fields, filters and error codes of the service. `npm run generate` writes this file. */';

export function writeClientInterface(): string {
  const parts = [...writeEnums(), ...writePets(), writeFilters(), writeFields(), writeCodes()];
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

function writeFilters(): string {
  const members = PET_FILTERS.map(
    (filter) => `  readonly ${filter.name}?: ${toType(filter, 'bigint | number')} | undefined;`,
  );
  return `export interface PetFilters {\n${members.join('\n')}\n}`;
}

function toType({ kind, schemaName }: NewPetField, integer = 'Integer'): string {
  return kind === 'int64' ? integer : (schemaName ?? 'string');
}

function writeFields(): string {
  const members = NEW_PET_FIELDS.map(({ name, kind }) => `  ${name}: '${kind}',`);
  return `export const FIELDS = {\n  id: 'int64',\n${members.join('\n')}\n} as const;`;
}

function writeCodes(): string {
  return `export type ErrorCode =\n${Object.keys(ERRORS)
    .map((code) => `  | ${quote(code)}`)
    .join('\n')};`;
}

function quote(text: string): string {
  return `'${text}'`;
}
