/** Pets as rows of a database, and pages of pets: all derived from the table of fields in pet.ts. */

import { NEW_PET_FIELDS, type NewPet, type NewPetField, type Pet } from '../pet.ts';
import { PET_FILTERS, type PetQuery } from '../pet-query.ts';
import type { PetPage } from '../store.ts';
import type { Engine, Row, SqlValue } from './engine.ts';

/** The fields of a NewPet, each with its column and its type: the column of `categoryId` is `category_id`. */
export const FIELDS = NEW_PET_FIELDS.map(withColumn);
export const FILTERS = PET_FILTERS.map(withColumn);

export const COLUMNS = FIELDS.map(({ column }) => column);
export const PET_COLUMNS = ['id', ...COLUMNS];
export const SELECT = `select ${PET_COLUMNS} from pets`;

function withColumn<Field extends NewPetField>(field: Field) {
  const column = field.name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return { ...field, column, type: field.kind === 'int64' ? 'bigint' : 'text' };
}

export function findFilters(query: PetQuery) {
  return FILTERS.flatMap(({ name, column, type }) => {
    const value = query[name];
    return value === undefined ? [] : [{ column, type, value }];
  });
}

/** SQL for a pet as JSON text, which is the text of `toPetJson`. */
export function toJsonSql(toJson: Engine['toJsonFunction']): string {
  const members = FIELDS.map(({ name, column, kind }) => {
    const value = kind === 'int64' ? column : `${toJson}(${column})`;
    return `case when ${column} is null then '' else ',"${name}":' || ${value} end`;
  });
  return `'{"id":' || id || ${members.join(' || ')} || '}'`;
}

/** @param rows one row above the limit when there is a next page. */
export function toPage(rows: readonly Row[], limit: number): PetPage {
  const pets = rows.slice(0, limit).map(toPet);
  const last = pets.at(-1);
  return rows.length > limit && last !== undefined ? { pets, next: last.id } : { pets };
}

/** @param row the id and the values of COLUMNS. */
export function toPet(row: Row): Pet {
  const pet: Record<string, unknown> = { id: row[0] };
  let index = 1;
  for (const { name } of FIELDS) {
    const value = row[index];
    if (value !== null) pet[name] = value;
    index += 1;
  }
  return pet as unknown as Pet;
}

export function toRow(newPet: NewPet): SqlValue[] {
  return FIELDS.map(({ name }) => newPet[name] ?? null);
}
