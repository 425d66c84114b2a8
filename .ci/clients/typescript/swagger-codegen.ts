/** What swagger-codegen generates: it has the types of the document. Its code is compiled and not run. */

import { AnimalsApi, type NewPet, type Pet, PetStatus } from './generated/swagger-codegen/api';

const api = new AnimalsApi({ basePath: 'http://127.0.0.1:8080/v1' });
const rex: NewPet = { name: 'Rex', categoryId: 7, status: PetStatus.Available };
export const created: Promise<Pet> = api.createPet(rex, 'order-1');
export const ids: Promise<number[]> = api
  .listPets(5, PetStatus.Sold)
  .then((pets) => pets.map(({ id }) => id));

// @ts-expect-error: the name is a string.
export const unnamed: NewPet = { ...rex, name: 7 };
// @ts-expect-error: a pet has a category.
export const bare: NewPet = { name: 'Rex' };
// @ts-expect-error: the status is one of three.
export const unknown: NewPet = { ...rex, status: 'gone' };
// @ts-expect-error: an id is a number.
export const text: Promise<string> = created.then(({ id }) => id);
