/** Adds the pet of the form, once, however often the client sends it. */

import { createIdempotencyKey } from '../../client/petstore-client.ts';
import { NEW_PET_FIELDS, type NewPet, type Pet } from '../pet.ts';
import { focusFirst, getElement, readFields } from './elements.ts';
import { createClient, findKey } from './session.ts';

export class PetAdder {
  readonly #form = getElement('add-form', HTMLFormElement);
  #idempotencyKey = createIdempotencyKey();

  constructor() {
    this.#form.addEventListener('input', () => {
      this.#idempotencyKey = createIdempotencyKey();
    });
  }

  async add(): Promise<Pet> {
    const idempotencyKey = this.#idempotencyKey;
    // The service tells which fields are missing.
    const newPet = readFields(this.#form, NEW_PET_FIELDS) as NewPet;
    const pet = await createClient(findKey()).create(newPet, { idempotencyKey });
    // With another key, the form has the next pet already.
    if (this.#idempotencyKey === idempotencyKey) {
      this.#idempotencyKey = createIdempotencyKey();
      this.#form.reset();
      if (this.#form.contains(document.activeElement)) focusFirst(this.#form);
    }
    return pet;
  }
}
