/** The operations of the service, in the order of the document. */

import { createPet } from './create-pet.ts';
import { getPet } from './get-pet.ts';
import { listPets } from './list-pets.ts';
import type { Operation } from './operation.ts';

export const OPERATIONS: readonly Operation[] = [listPets, createPet, getPet];
