/** The table: the pets of a page, and above them the pet that was added or looked up. */

import { NEW_PET_FIELDS, type Pet } from '../pet.ts';
import { createElement, getElement, say } from './elements.ts';

export class PetTable {
  readonly #rows = getElement('pets', HTMLElement);
  readonly #go = getElement('go', HTMLElement);
  #pets: readonly Pet[] = [];
  #marked: Pet | undefined;

  /** The pet that stands first, highlighted, whichever page is shown. */
  get marked(): Pet | undefined {
    return this.#marked;
  }

  show(pets: readonly Pet[]): void {
    this.#pets = pets;
    this.#draw();
  }

  mark(pet: Pet | undefined, words = ''): void {
    this.#marked = pet;
    say('marked', words);
    this.#go.hidden = pet === undefined;
    this.#draw();
  }

  /** Highlights the pet where it stands in the page, and brings it into view. */
  showInPlace(id: bigint): void {
    const row = this.#rows.children.item(this.#pets.findIndex((pet) => pet.id === id));
    if (!(row instanceof HTMLElement)) return;
    row.ariaCurrent = 'true';
    // The button that had the focus is gone.
    row.tabIndex = -1;
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: 'center' });
  }

  #draw(): void {
    const marked = this.#marked;
    const others = this.#pets.filter(({ id }) => id !== marked?.id);
    this.#rows.replaceChildren(...others.map(createRow));
    if (marked !== undefined) {
      const row = createRow(marked);
      row.ariaCurrent = 'true';
      this.#rows.prepend(row);
    }
    getElement('table', HTMLElement).hidden = this.#rows.children.length === 0;
  }
}

function createRow(pet: Pet): HTMLElement {
  const row = createElement('tr', '');
  row.append(createElement('th', String(pet.id), 'int64'));
  for (const { name, kind, schema } of NEW_PET_FIELDS) {
    const text = String(pet[name] ?? '');
    const cell = schema.enum ? createElement('td', '', 'choice') : createElement('td', text, kind);
    if (schema.enum) cell.append(createLabel(text));
    row.append(cell);
  }
  return row;
}

/** A value of a few: its word, and in the style sheet its colour. */
function createLabel(value: string): HTMLElement {
  if (value === '') return createElement('span', 'none', 'none');
  const label = createElement('span', value, 'label');
  label.dataset.value = value;
  return label;
}
