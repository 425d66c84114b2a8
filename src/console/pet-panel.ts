/** The panel of one pet: its JSON, as the service answers it. */

import { writeJson } from '../json.ts';
import type { Pet } from '../pet.ts';
import { createClient } from './client.ts';
import { getElement, write } from './elements.ts';
import { readAddress, toPetAddress } from './session.ts';

export class PetPanel {
  readonly dialog = getElement('pet', HTMLDialogElement);
  #reading = new AbortController();

  constructor() {
    this.dialog.addEventListener('close', () => {
      // Another pet may be open by now.
      if (this.dialog.open) return;
      this.#reading.abort();
      if (readAddress().has('pet')) history.replaceState(null, '', toPetAddress());
    });
  }

  /** Shows what is known of the pet at once, and reads it anew. */
  async open(id: bigint, known: Pet | undefined): Promise<void> {
    this.#reading.abort();
    this.#reading = new AbortController();
    const { signal } = this.#reading;
    this.#write(id, known);
    if (!this.dialog.open) this.dialog.showModal();
    this.#write(id, await createClient('pet').get(id, { signal }));
  }

  #write(id: bigint, pet: Pet | undefined): void {
    write('pet-title', pet?.name ?? `Pet ${id}`);
    write('pet-json', pet === undefined ? '' : writeJson(pet, 2));
  }
}
