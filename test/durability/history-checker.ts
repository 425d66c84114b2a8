/** The history checker: finds in a history what no correct store could have answered. */

import type { Create, History, Page, StoredPet, Walk } from './history.ts';

/** A pet of the store, with the times between which it was added. */
interface Known extends StoredPet {
  /** When its create was sent. */
  readonly from: number;
  /** When the first answer that has it was received. */
  to: number;
}

/** The violations of a history, in words; empty when it has none. */
export function findViolations(history: History): string[] {
  const violations: string[] = [];
  const pets = collect(history, violations);
  const all = [...pets.values()].sort((a, b) => a.id - b.id);
  for (const get of history.gets) {
    const pet = pets.get(get.id);
    if (get.name === undefined && pet !== undefined && pet.to < get.from) {
      violations.push(`lost or stale: a get did not find ${describe(pet)}`);
    }
  }
  for (const page of [...history.pages, ...history.walks.flatMap(({ pages }) => pages)]) {
    violations.push(...checkPage(page, all));
  }
  for (const walk of history.walks) violations.push(...checkWalk(walk, all));
  violations.push(...checkOrder(all));
  return violations;
}

/** All pets by id: those that were acknowledged and those in an answer. */
function collect(history: History, violations: string[]): Map<number, Known> {
  const asked = new Map<string, Create>();
  for (const create of history.creates) {
    if (asked.has(create.name)) violations.push(`the history asks twice for ${create.name}`);
    asked.set(create.name, create);
  }
  const pets = new Map<number, Known>();
  const ids = new Map<string, number>();

  function note(id: number, name: string, to: number): void {
    const create = asked.get(name);
    if (create === undefined || create.from > to) {
      violations.push(`unexpected: nobody had asked for ${describe({ id, name })}`);
      return;
    }
    const known = pets.get(id);
    if (known !== undefined && known.name !== name) {
      violations.push(`id used twice: ${id} is ${known.name} and ${name}`);
      return;
    }
    const other = ids.get(name);
    if (other !== undefined && other !== id) {
      violations.push(`doubled: ${name} is ${other} and ${id}`);
    }
    ids.set(name, id);
    if (known === undefined) {
      pets.set(id, { id, name, status: create.status, from: create.from, to });
    } else if (to < known.to) known.to = to;
  }

  for (const { id, name, to } of history.creates) {
    if (id !== undefined && to !== undefined) note(id, name, to);
  }
  for (const { id, name, to } of history.gets) if (name !== undefined) note(id, name, to);
  for (const page of [...history.pages, ...history.walks.flatMap(({ pages }) => pages)]) {
    for (const { id, name } of page.pets) note(id, name, page.to);
  }
  return pets;
}

/**
 * A page that has a next one has every pet up to its last one, since a cursor never skips a pet. A last page has every
 * pet that was in an earlier answer: on PostgreSQL a smaller id may become visible later.
 */
function checkPage(page: Page, all: readonly Known[]): string[] {
  const violations: string[] = [];
  const { after, limit, status, hasNext } = page;
  const shown = page.pets.map(({ id }) => id);
  const what = `the page of ${limit} behind ${after}`;
  if (shown.length > limit) violations.push(`too long: ${what} has ${shown.length}`);
  // It may end before creates that are under way.
  if (hasNext && shown.length === 0) violations.push(`empty: ${what} has a next one`);
  violations.push(...checkAscent([after, ...shown], what));
  const last = shown.at(-1) ?? after;
  const seen = new Set(shown);
  for (const pet of all) {
    if (pet.id <= after) continue;
    if (pet.id > last && hasNext) break;
    if (seen.has(pet.id)) {
      if (status !== undefined && pet.status !== status) {
        violations.push(`unexpected: ${what} of ${status} has ${describe(pet)}`);
      }
    } else if (status === undefined || pet.status === status) {
      if (pet.id < last && hasNext) violations.push(`passed over: ${what} lacks ${describe(pet)}`);
      else if (pet.to < page.from) {
        violations.push(`lost or stale: ${what} lacks ${describe(pet)}`);
      }
    }
  }
  return violations;
}

/** A walk has each pet that existed when it began, and none twice. */
function checkWalk({ status, pages }: Walk, all: readonly Known[]): string[] {
  const met = pages.flatMap(({ pets }) => pets.map(({ id }) => id));
  const from = pages[0]?.from ?? 0;
  const seen = new Set(met);
  const missed = all.filter(
    (pet) => pet.to < from && (status === undefined || pet.status === status) && !seen.has(pet.id),
  );
  return [
    ...missed.map((pet) => `lost or stale: a walk did not meet ${describe(pet)}`),
    ...checkAscent(met, 'a walk'),
  ];
}

function checkAscent(ids: readonly number[], what: string): string[] {
  return ids.flatMap((id, index) => {
    const before = ids[index - 1] ?? -1;
    return id > before ? [] : [`out of order: ${what} has ${id} after ${before}`];
  });
}

/** A create that was sent after a pet was in an answer gets a greater id than that pet. */
function checkOrder(all: readonly Known[]): string[] {
  const violations: string[] = [];
  const known = all.toSorted((a, b) => a.to - b.to);
  let greatest: Known | undefined;
  let at = 0;
  for (const pet of all.toSorted((a, b) => a.from - b.from)) {
    for (; ; at += 1) {
      const earlier = known[at];
      if (earlier === undefined || earlier.to >= pet.from) break;
      if (greatest === undefined || earlier.id > greatest.id) greatest = earlier;
    }
    if (greatest !== undefined && greatest.id > pet.id) {
      violations.push(`out of order: ${describe(pet)} came after ${describe(greatest)}`);
    }
  }
  return violations;
}

function describe({ id, name }: StoredPet): string {
  return `${id} (${name})`;
}
