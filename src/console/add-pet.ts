/** Adds the pet of a form, once, however often its client sends it. */

import type { NewPet } from '../client/petstore-client.ts';
import { JsonNumber } from '../json.ts';
import { NEW_PET_FIELDS } from '../pet.ts';
import { getElement, readField, readLabel, say } from './page.ts';
import { createClient, findKey } from './service.ts';

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
    const members: Record<string, unknown> = {};
    for (const { name, kind, optional, parse } of NEW_PET_FIELDS) {
      const text = readField(this.#form, name);
      if (text === '' && optional) continue;
      if (text === '') throw new Error(`${readLabel(this.#form, name)} is missing`);
      // A bigint can be made of an int64 alone; all else the service judges.
      members[name] = kind === 'int64' ? parse(new JsonNumber(text.trim())) : text;
    }
    return members as unknown as NewPet;
  }
}

function createIdempotencyKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
