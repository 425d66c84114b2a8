/** Adds the pet of a form, once, however often its client sends it. */

import { createIdempotencyKey, type NewPet } from '../client/petstore-client.ts';
import { NEW_PET_FIELDS } from '../pet.ts';
import { getElement, readField, readFields, say } from './elements.ts';
import { createClient, findKey } from './session.ts';

export class PetAdder {
  readonly #form = getElement('add-form', HTMLFormElement);
  #idempotencyKey = createIdempotencyKey();

  constructor() {
    this.#form.addEventListener('input', () => {
      this.#idempotencyKey = createIdempotencyKey();
    });
  }

  async add(): Promise<void> {
    say('added', '');
    const idempotencyKey = this.#idempotencyKey;
    const pet = await createClient(findKey()).create(this.#readPet(), { idempotencyKey });
    // Else something was typed meanwhile, which is another pet.
    if (this.#idempotencyKey === idempotencyKey) {
      this.#idempotencyKey = createIdempotencyKey();
      this.#form.reset();
    }
    say('added', `${pet.name} was added with the id ${pet.id}.`);
  }

  #readPet(): NewPet {
    for (const { name, label, optional } of NEW_PET_FIELDS) {
      if (!optional && readField(this.#form, name) === '') throw new Error(`${label} is missing`);
    }
    return readFields(this.#form, NEW_PET_FIELDS) as NewPet;
  }
}
