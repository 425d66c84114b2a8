/** Adds the pet of the form, once, however often the client sends it. */

import { createIdempotencyKey } from '../../client/petstore-client.ts';
import { NEW_PET_FIELDS, type NewPet, type Pet, parseFieldText } from '../pet.ts';
import { focusFirst, getElement, readTexts } from './elements.ts';
import { createClient } from './session.ts';

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
    const pet = await createClient().create(readNewPet(this.#form), { idempotencyKey });
    // With another key, the form has the next pet already.
    if (this.#idempotencyKey === idempotencyKey) {
      this.#idempotencyKey = createIdempotencyKey();
      this.#form.reset();
      if (this.#form.contains(document.activeElement)) focusFirst(this.#form);
    }
    return pet;
  }
}

/** The service tells which fields are missing. */
function readNewPet(form: HTMLFormElement): NewPet {
  const texts = readTexts(form);
  const values: Record<string, unknown> = {};
  for (const field of NEW_PET_FIELDS) {
    const text = texts.get(field.name);
    if (text === null) continue;
    // The client needs a bigint. The service judges all other values.
    values[field.name] = field.kind === 'int64' ? parseFieldText(field, text) : text;
  }
  return values as unknown as NewPet;
}
