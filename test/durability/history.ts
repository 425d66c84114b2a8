/** A history: the requests of clients with their answers and times. */

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
  readonly status?: string | undefined;
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
export interface Get extends Answered {
  readonly id: number;
  readonly name?: string | undefined;
}

/** A page of the pets after an id, of one status or all. */
export interface Page extends Answered {
  readonly after: number;
  readonly limit: number;
  readonly status?: string | undefined;
  readonly pets: readonly StoredPet[];
  readonly hasNext: boolean;
}

/** All pages from the first to the last. */
export interface Walk {
  readonly status?: string | undefined;
  readonly pages: readonly Page[];
}

export interface History {
  readonly creates: Create[];
  /** Those that were sent, and have no 201. */
  brokenCreates: number;
  readonly gets: Get[];
  readonly pages: Page[];
  readonly walks: Walk[];
}

export function createHistory(): History {
  return { creates: [], brokenCreates: 0, gets: [], pages: [], walks: [] };
}
