/** The table: the pets that were added meanwhile, and below them the pets of the list. */

import { NEW_PET_FIELDS, type Pet } from '../pet.ts';
import { toPetAddress } from './address.ts';
import { createElement, getElement, show } from './elements.ts';

export class PetTable {
  readonly #rows = getElement('pets', HTMLElement);
  /** The pets of the list. */
  pets: readonly Pet[] = [];
  /** The pets that were added since the list was read, first the newest. They are at its end, or the filter hides them. */
  #added: readonly Pet[] = [];

  show(pets: readonly Pet[]): void {
    this.#rows.replaceChildren();
    this.pets = [];
    this.#added = [];
    this.append(pets);
    getElement('list', HTMLElement).scrollTop = 0;
  }

  append(pets: readonly Pet[]): void {
    this.pets = [...this.pets, ...pets];
    const added = new Set(this.#added.map(({ id }) => id));
    const others = pets.filter(({ id }) => !added.has(id));
    this.#rows.append(...others.map((pet) => createRow(pet)));
    show('table', this.#rows.children.length > 0);
  }

  /** Shows a new pet as the first one. */
  addFirst(pet: Pet): void {
    this.#added = [pet, ...this.#added];
    const row = createRow(pet);
    row.classList.add('new');
    this.#rows.prepend(row);
    show('table', true);
    show('empty', false);
    getElement('list', HTMLElement).scrollTop = 0;
  }

  find(id: bigint): Pet | undefined {
    return [...this.#added, ...this.pets].find((pet) => pet.id === id);
  }
}

function createRow(pet: Pet): HTMLElement {
  const row = createElement('tr', '');
  const id = createElement('th', '', 'int64');
  id.setAttribute('scope', 'row');
  const link = document.createElement('a');
  link.href = toPetAddress(pet.id);
  link.textContent = String(pet.id);
  id.append(link);
  row.append(id);
  row.addEventListener('click', ({ target }) => {
    // The click may end the selection of a text.
    if (target !== link && getSelection()?.isCollapsed) location.hash = link.hash;
  });
  for (const { name, kind, schema } of NEW_PET_FIELDS) {
    const text = String(pet[name] ?? '');
    const cell = createElement('td', schema.enum ? '' : text, schema.enum ? 'choice' : kind);
    if (schema.enum) cell.append(createLabel(text));
    row.append(cell);
  }
  return row;
}

/** The value of a field that is chosen from a list. The style sheet has the colour of each value. */
export function createLabel(value: string): HTMLElement {
  const label = createElement('span', value || 'none', value ? 'label' : 'none');
  label.dataset.value = value;
  return label;
}
