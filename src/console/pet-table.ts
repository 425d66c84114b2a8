/** The table: the pets that were added meanwhile, and below them the pets of the list. */

import { NEW_PET_FIELDS, type Pet } from '../pet.ts';
import { createElement, getElement, show } from './elements.ts';
import { toPetAddress } from './session.ts';

export class PetTable {
  readonly #rows = getElement('pets', HTMLElement);
  /** By their ids. */
  readonly pets = new Map<bigint, Pet>();

  clear(): void {
    this.#rows.replaceChildren();
    this.pets.clear();
  }

  add(pets: readonly Pet[]): void {
    // A pet that was added meanwhile is the first row already.
    const others = pets.filter(({ id }) => !this.pets.has(id));
    for (const pet of others) this.pets.set(pet.id, pet);
    this.#rows.append(...others.map(createRow));
    show('table', this.pets.size > 0);
  }

  /** Shows a new pet as the first row. */
  addFirst(pet: Pet): void {
    this.add([pet]);
    const row = this.#rows.lastElementChild;
    row?.classList.add('new');
    this.#rows.prepend(row ?? '');
    getElement('list', HTMLElement).scrollTop = 0;
  }
}

function createRow(pet: Pet): HTMLElement {
  const link = document.createElement('a');
  link.href = toPetAddress(pet.id);
  link.textContent = String(pet.id);
  const id = createElement('th', '', 'int64');
  id.append(link);
  const row = createElement('tr', '');
  row.append(id);
  for (const { name, kind, schema } of NEW_PET_FIELDS) {
    const text = String(pet[name] ?? '');
    row.append(schema.enum ? createChoice(text) : createElement('td', text, kind));
  }
  row.addEventListener('click', ({ target }) => {
    // The click may end the selection of a text.
    if (target !== link && getSelection()?.isCollapsed) location.hash = link.hash;
  });
  return row;
}

/** The cell of a value that is chosen from a list. The style sheet has the colour of each value. */
function createChoice(value: string): HTMLElement {
  const label = createElement('span', value || 'none', value ? 'label' : 'none');
  label.dataset.value = value;
  const cell = createElement('td', '', 'choice');
  cell.append(label);
  return cell;
}
