/** The panel of one pet: its JSON, as the service answers it. */

import { writeJson } from '../json.ts';
import type { Pet } from '../pet.ts';
import { createClient } from './client.ts';
import { getElement, show, toVisible, write } from './elements.ts';
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

  async open(id: bigint, known: Pet | undefined): Promise<void> {
    this.#reading.abort();
    this.#reading = new AbortController();
    const { signal } = this.#reading;
    this.#write(id, known);
    if (!this.dialog.open) this.dialog.showModal();
    try {
      this.#write(id, await createClient('pet').get(id, { signal }));
    } catch (error) {
      const { code } = Object(error);
      // The operator may have removed the operation: what the list knows is shown.
      if (code === 'gone' && known !== undefined) return;
      if (code !== 'gone' && code !== 'not_found') throw error;
      this.#write(id, undefined);
      show('no-pet', true);
      if (code === 'not_found') throw new Error(`There is no pet ${id}.`);
      throw new Error(`This service finds no pet by its id any more: open pet ${id} in the list.`);
    }
  }

  #write(id: bigint, pet: Pet | undefined): void {
    write('pet-title', pet === undefined ? `Pet ${id}` : toVisible(pet.name));
    write('pet-json', pet === undefined ? '' : writeJson(pet, 2));
    write('update-pet', `petstore pets update ${id} --status sold`);
    write('remove-pet', `petstore pets remove ${id}`);
    show('known-pet', pet !== undefined);
    show('no-pet', false);
  }
}
