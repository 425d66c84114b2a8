/** Adds the pet of the form, once, however often the client sends it. The dialog stays open for the next pet. */

import { createIdempotencyKey } from '../../client/petstore-client.ts';
import { NEW_PET_FIELDS, type NewPet, type Pet, parseNewPet } from '../pet.ts';
import { toFieldValue } from '../pet-field.ts';
import { createClient } from './client.ts';
import { createElement, getElement, readTexts, write } from './elements.ts';

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
    write('added', '');
    const pet = await createClient('add').create(readNewPet(this.#form), { idempotencyKey });
    // With another key, the form has the next pet already.
    if (this.#idempotencyKey === idempotencyKey) {
      this.#idempotencyKey = createIdempotencyKey();
      this.#form.reset();
      this.focus();
    }
    const name = createElement('bdi', pet.name);
    getElement('added', HTMLOutputElement).replaceChildren(name, ` has the id ${pet.id}.`);
    return pet;
  }

  focus(): void {
    this.#form.querySelector<HTMLElement>('input, select')?.focus();
  }
}

function readNewPet(form: HTMLFormElement): NewPet {
  const texts = readTexts(form);
  const members = NEW_PET_FIELDS.map((field) => {
    const text = texts.get(field.name) ?? undefined;
    return [field.name, text && toFieldValue(field, field.kind === 'int64' ? text.trim() : text)];
  });
  return parseNewPet(Object.fromEntries(members));
}
