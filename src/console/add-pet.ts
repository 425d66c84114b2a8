/** Adds the pet of a form, once, however often its client sends it. */

import { createIdempotencyKey } from '../../client/petstore-client.ts';
import { NEW_PET_FIELDS, type NewPet, type Pet } from '../pet.ts';
import { focusFirst, getElement, readField, readFields } from './elements.ts';
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
    const pet = await createClient(findKey()).create(this.#readPet(), { idempotencyKey });
    // Else something was typed meanwhile, which is another pet.
    if (this.#idempotencyKey === idempotencyKey) {
      this.#idempotencyKey = createIdempotencyKey();
      this.#form.reset();
      // The next pet begins with its first field.
      if (this.#form.contains(document.activeElement)) focusFirst(this.#form);
    }
    return pet;
  }

  #readPet(): NewPet {
    for (const { name, label, optional } of NEW_PET_FIELDS) {
      if (!optional && readField(this.#form, name) === '') throw new Error(`${label} is missing`);
    }
    return readFields(this.#form, NEW_PET_FIELDS) as NewPet;
  }
}
