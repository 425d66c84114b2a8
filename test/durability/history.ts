/** A history: the requests of clients with their answers and times, and what in it no correct store could have answered. */

/** Times are in milliseconds of one clock. */
interface Answered {
  /** When it was sent, or before. */
  readonly from: number;
  /** When its answer was there, or after. */
  readonly to: number;
}

export interface StoredPet {
  readonly id: number;
  readonly name: string;
}

/** A create of one pet, whose name is unique. Absent members were not answered. */
export interface Create {
  readonly name: string;
  readonly status?: string | undefined;
  readonly from: number;
  to?: number;
  id?: number;
}

/** The name is absent when there was no such pet. */
interface Get extends Answered {
  readonly id: number;
  readonly name?: string | undefined;
}

/** A page of the pets after an id, of one status or all. */
interface Page extends Answered {
  readonly after: number;
  readonly limit: number;
  readonly status?: string | undefined;
  readonly pets: readonly StoredPet[];
  readonly hasNext: boolean;
}

export interface History {
  readonly creates: Create[];
  /** Those that were sent, and have no 201. */
  brokenCreates: number;
  /** The wrong answers, in words. */
  readonly wrong: string[];
  readonly gets: Get[];
  readonly pages: Page[];
}

export function createHistory(): History {
  return { creates: [], brokenCreates: 0, wrong: [], gets: [], pages: [] };
}

/** A pet of the store, with the times between which it was added. */
interface Known extends StoredPet {
  readonly status?: string | undefined;
  /** When its create was sent. */
  readonly from: number;
  /** When the first answer that has it was received. */
  to: number;
}

/** The violations of a history, in words; empty when it has none. */
export function findViolations(history: History): string[] {
  const violations = [...history.wrong];
  const pets = collect(history, violations);
  const all = [...pets.values()].sort((a, b) => a.id - b.id);
  for (const get of history.gets) {
    const pet = pets.get(get.id);
    if (get.name === undefined && pet !== undefined && pet.to < get.from) {
      violations.push(`lost or stale: a get did not find ${describe(pet)}`);
    }
  }
  for (const page of history.pages) violations.push(...checkPage(page, all));
  violations.push(...checkOrder(all));
  return violations;
}

/** All pets by id: those that were acknowledged and those in an answer. */
function collect(history: History, violations: string[]): Map<number, Known> {
  const asked = new Map(history.creates.map((create) => [create.name, create]));
  const pets = new Map<number, Known>();
  const ids = new Map<string, number>();

  function note(to: number, id: number, name: string): void {
    const create = asked.get(name);
    if (create === undefined || create.from > to) {
      violations.push(`unexpected: nobody had asked for ${describe({ id, name })}`);
      return;
    }
    const known = pets.get(id) ?? { id, name, status: create.status, from: create.from, to };
    pets.set(id, known);
    if (known.name !== name) {
      violations.push(`id used twice: ${id} is ${known.name} and ${name}`);
      return;
    }
    const other = ids.get(name) ?? id;
    if (other !== id) violations.push(`doubled: ${name} is ${other} and ${id}`);
    ids.set(name, id);
    known.to = Math.min(known.to, to);
  }

  for (const { id, name, to } of history.creates) {
    if (id !== undefined && to !== undefined) note(to, id, name);
  }
  for (const { id, name, to } of history.gets) if (name !== undefined) note(to, id, name);
  for (const { pets, to } of history.pages) for (const { id, name } of pets) note(to, id, name);
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
  for (const [index, id] of shown.entries()) {
    const before = shown[index - 1] ?? after;
    if (id <= before) violations.push(`out of order: ${what} has ${id} after ${before}`);
  }
  const last = hasNext ? (shown.at(-1) ?? after) : Infinity;
  const seen = new Set(shown);
  for (const pet of all) {
    const isOfStatus = status === undefined || pet.status === status;
    if (seen.has(pet.id)) {
      if (!isOfStatus) violations.push(`unexpected: ${what} of ${status} has ${describe(pet)}`);
    } else if (isOfStatus && pet.id > after && pet.id < last && (hasNext || pet.to < page.from)) {
      violations.push(`lost, stale or passed over: ${what} lacks ${describe(pet)}`);
    }
  }
  return violations;
}

/** A create that was sent after a pet was in an answer gets a greater id than that pet. */
function checkOrder(all: readonly Known[]): string[] {
  const violations: string[] = [];
  /** Of the pets with greater ids, the one that was first in an answer. */
  let first: Known | undefined;
  for (const pet of all.toReversed()) {
    if (first !== undefined && first.to < pet.from) {
      violations.push(`out of order: ${describe(pet)} came after ${describe(first)}`);
    }
    if (first === undefined || pet.to < first.to) first = pet;
  }
  return violations;
}

function describe({ id, name }: StoredPet): string {
  return `${id} (${name})`;
}
