/** The table: the pet that was added or looked up, and below it the pets of a page. */

import { NEW_PET_FIELDS, type Pet } from '../pet.ts';
import { createElement, getElement, say } from './elements.ts';

export class PetTable {
  readonly #rows = getElement('pets', HTMLElement);
  readonly #go = getElement('go', HTMLElement);
  #pets: readonly Pet[] = [];
  #marked: Pet | undefined;

  /** The pet that was added or looked up. It is highlighted, and first on each page. */
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

  /** Highlights the pet in its place, and scrolls to it. */
  showInPlace(id: bigint): void {
    const row = this.#rows.children.item(this.#pets.findIndex((pet) => pet.id === id));
    if (!(row instanceof HTMLElement)) return;
    row.ariaCurrent = 'true';
    // The button that had the focus is hidden now.
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
    const cell = createElement('td', schema.enum ? '' : text, schema.enum ? 'choice' : kind);
    if (schema.enum) cell.append(createLabel(text));
    row.append(cell);
  }
  return row;
}

/** A value of a choice. The style sheet has its colour. */
function createLabel(value: string): HTMLElement {
  if (value === '') return createElement('span', 'none', 'none');
  const label = createElement('span', value, 'label');
  label.dataset.value = value;
  return label;
}
