/** The panel of one pet: its JSON, as the service answers it. */

import { NEW_PET_FIELDS, type Pet } from '../pet.ts';
import { readAddress, replaceAddress, toPetAddress } from './address.ts';
import { getElement, showMessage, write } from './elements.ts';
import type { PetTable } from './pet-table.ts';
import { createLabel } from './pet-table.ts';
import { createClient } from './session.ts';

export class PetPanel {
  readonly dialog = getElement('pet', HTMLDialogElement);
  #reading = new AbortController();

  constructor() {
    this.dialog.addEventListener('close', () => {
      // Another pet may be open by now.
      if (this.dialog.open) return;
      this.#reading.abort();
      if (readAddress().has('pet')) replaceAddress(toPetAddress());
    });
  }

  /** Shows the pet that the table knows at once, and reads it anew. */
  async open(id: bigint, table: PetTable): Promise<void> {
    this.#reading.abort();
    this.#reading = new AbortController();
    const { signal } = this.#reading;
    showMessage(this.dialog, '');
    this.#write(id, table.find(id));
    if (!this.dialog.open) this.dialog.showModal();
    this.#write(id, await createClient('pet').get(id, { signal }));
  }

  #write(id: bigint, pet: Pet | undefined): void {
    write('pet-title', pet?.name ?? `Pet ${id}`);
    write('pet-json', pet === undefined ? '' : toLines(pet));
    const labels = NEW_PET_FIELDS.filter(({ name, schema }) => schema.enum && pet?.[name]);
    getElement('pet-labels', HTMLElement).replaceChildren(
      ...labels.map(({ name }) => createLabel(String(pet?.[name]))),
    );
  }
}

/** The JSON of the pet, a member on a line. */
function toLines(pet: Pet): string {
  const members = ['id' as const, ...NEW_PET_FIELDS.map(({ name }) => name)].flatMap((name) => {
    const value = pet[name];
    if (value === undefined) return [];
    return `  "${name}": ${typeof value === 'bigint' ? value : JSON.stringify(value)}`;
  });
  return `{\n${members.join(',\n')}\n}`;
}
