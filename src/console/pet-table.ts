/** The table: the pet that was added or looked up, and below it the pets of a page. */

import type { PetPage } from '../../client/petstore-client.ts';
import { NEW_PET_FIELDS, type Pet } from '../pet.ts';
import { createElement, getElement, say } from './elements.ts';

const EMPTY = 'There are no pets yet. Add the first one above, or many from a file.';

export class PetTable {
  readonly #rows = getElement('pets', HTMLElement);
  pets: readonly Pet[] = [];
  /** The pet that was added or looked up. It is highlighted, and first on each page. */
  marked: Pet | undefined;

  show(page: number, { pets, next }: PetPage, isFiltered: boolean): void {
    this.pets = pets;
    this.#draw();
    const why = isFiltered ? 'No pet matches the filter.' : EMPTY;
    getElement('empty', HTMLElement).textContent = pets.length === 0 ? why : '';
    say('shown', `Page ${page}: ${pets.length} ${pets.length === 1 ? 'pet' : 'pets'}`);
    // `disabled` would take the focus away from a person who uses the keyboard.
    getElement('previous', HTMLElement).ariaDisabled = String(page === 1);
    getElement('next', HTMLElement).ariaDisabled = String(next === undefined);
  }

  mark(pet: Pet | undefined, words = ''): void {
    this.marked = pet;
    say('marked', words);
    getElement('go', HTMLElement).hidden = pet === undefined;
    this.#draw();
  }

  /** Highlights the pet in its place, and scrolls to it. */
  showInPlace(id: bigint): void {
    const row = this.#rows.children.item(this.pets.findIndex((pet) => pet.id === id));
    if (!(row instanceof HTMLElement)) return;
    row.ariaCurrent = 'true';
    // The button that had the focus is hidden now.
    row.tabIndex = -1;
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: 'center' });
  }

  #draw(): void {
    const { marked } = this;
    const others = this.pets.filter(({ id }) => id !== marked?.id);
    const pets = marked === undefined ? others : [marked, ...others];
    this.#rows.replaceChildren(...pets.map((pet) => createRow(pet, pet === marked)));
    getElement('table', HTMLElement).hidden = pets.length === 0;
  }
}

function createRow(pet: Pet, isMarked: boolean): HTMLElement {
  const row = createElement('tr', '');
  if (isMarked) row.ariaCurrent = 'true';
  row.append(createElement('th', String(pet.id), 'int64'));
  for (const { name, kind, schema } of NEW_PET_FIELDS) {
    const text = String(pet[name] ?? '');
    row.append(schema.enum ? createChoice(text) : createElement('td', text, kind));
  }
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
