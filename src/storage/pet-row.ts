/** Pets as rows of a database, and pages of them. */

import type { Pet, PetStatus } from '../pet.ts';
import type { PetPage } from '../store.ts';
import type { Row } from './engine.ts';

/** The columns of a NewPet. */
export const COLUMNS = ['name', 'category_id', 'status'];
export const SELECT = `select id, ${COLUMNS} from pets`;

/** @param rows limit + 1 of them when there is a next page. */
export function toPage(rows: readonly Row[], limit: number): PetPage {
  const pets = rows.slice(0, limit).map(toPet);
  const last = pets.at(-1);
  return rows.length > limit && last !== undefined ? { pets, next: last.id } : { pets };
}

export function toPet(row: Row): Pet {
  const [id, name, categoryId, status] = row as [bigint, string, bigint, PetStatus | null];
  return status === null ? { id, name, categoryId } : { id, name, categoryId, status };
}
