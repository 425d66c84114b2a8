/** The port to the database: what a store promises, method by method. */

import type { ApiKey, NewApiKey } from './api-key.ts';
import type { GivenPet, NewPet, Pet } from './pet.ts';
import type { PetQuery } from './pet-query.ts';

/**
 * A store of pets and API keys. A write resolves once it is on the disk. Every method may also throw PetstoreError
 * `unavailable` when the database cannot answer in time. Then a write may still have been done.
 */
export interface Store extends ServedStore, AsyncDisposable {
  /** The number of the layout when the store was opened; 0 for a new store. */
  readonly foundLayout: number;

  readonly pets: PetStore & LongWork;
  /** Whatever counts adds to it. */
  readonly counts: StoreCounts;

  /** Connections to PostgreSQL by what they do, and how much work waits for one. Absent on SQLite. */
  readonly countConnections?:
    | (() => Readonly<Record<'used' | 'idle' | 'waiting' | 'broken', number>>)
    | undefined;

  /**
   * Writes a copy of the whole store, as of one moment, to a new SQLite file, and checks it. Other
   * processes may read and write meanwhile. It is long work, as `merge` is.
   *
   * @throws PetstoreError `bad_request` when the file exists or cannot be written.
   */
  backup(file: string): Promise<void>;

  /** Waits for the writes under way and closes the database, as the end of `await using` does. */
  close(): Promise<void>;
}

/** What a store counts since it was opened; the parts of an engine count. */
export function createStoreCounts() {
  return {
    commits: 0,
    committedWrites: 0,
    commitSeconds: 0,
    /** Queries of pets that clients list or get. */
    reads: 0,
    /** Pages of lists; without a page cache none is counted. */
    pages: 0,
    /** Pages of lists that the page cache did not have. */
    readPages: 0,
  };
}

export type StoreCounts = ReturnType<typeof createStoreCounts>;

/** The part that requests may use: each method may be called at any time. */
export interface ServedStore {
  /** The most connections of requests to PostgreSQL; absent on SQLite. */
  readonly connectionsMax?: number | undefined;

  readonly pets: PetStore;
  readonly keys: KeyStore;

  /** Resolves when requests can be answered: PostgreSQL takes writes, the file of SQLite was not replaced. */
  check(): Promise<void>;
}

export interface PetStore {
  add(newPet: NewPet): Promise<Pet>;

  /**
   * Adds a pet, unless the same request added it within IDEMPOTENCY_MS. Then it resolves to this pet as it is now.
   *
   * @throws PetstoreError `idempotency_key_reused` if that request was for another pet, `gone` if its pet was removed.
   */
  addOnce(
    newPet: NewPet,
    request: IdempotentRequest,
  ): Promise<{ readonly pet: Pet; readonly isReplay: boolean }>;

  /** Replaces the fields of `old`. @throws PetstoreError `conflict` when it was removed or changed since it was read. */
  update(old: Pet, newPet: NewPet): Promise<Pet>;

  find(id: bigint): Promise<Pet | undefined>;

  /**
   * A page of the pets, by id, ascending. Reading on from `next` meets every pet that was there at the start
   * exactly once, unless the pet is removed meanwhile, or changed in a field of a filter.
   */
  list(query: PetQuery): Promise<PetPage>;

  /** The same page as JSON text, which costs less than its pets. */
  listAsJson(query: PetQuery): Promise<JsonPage>;
}

/** Long work of commands. It queues. On SQLite no other method of the store may be called until it resolves. */
export interface LongWork {
  /**
   * Adds all the pets or, when the iteration or the database fails, none. Holds at most a few thousand in memory.
   *
   * A pet with an id keeps it. The others get ids in their order, without gaps. A pet that the store has already is left;
   * if it differs, `update` decides. A correction is as of `update`. Later pets get greater ids.
   *
   * @throws PetstoreError `bad_request` when two of the pets have the same id, or the store has another pet with one of
   *   the ids: without `update`, or if the pet changes before it is corrected.
   */
  merge(pets: AsyncIterable<GivenPet>, options?: MergeOptions): Promise<MergedPets>;

  /**
   * Removes all the pets or none, and resolves to them, by id. No create gets their ids again.
   *
   * @param dryRun whether to remove none.
   * @param only what may be removed, such as the pets of a dry run.
   * @throws PetstoreError `not_found` when a range has no pet, `conflict` when it has other pets than `only`.
   */
  remove(ranges: readonly IdRange[], dryRun?: boolean, only?: readonly Pet[]): Promise<Pet[]>;
}

/** How long an idempotent request is remembered: 24 hours. */
export const IDEMPOTENCY_MS = 24 * 60 * 60 * 1000;

/** A create that a client named by an Idempotency-Key, so that it can safely send it again. */
export interface IdempotentRequest {
  /** The id of the API key; each API key has idempotency keys of its own. */
  readonly keyId: number;
  /** The Idempotency-Key: 1 to 255 visible ASCII characters. */
  readonly key: string;
}

export interface AddedPets {
  readonly count: number;
  /** The least and the greatest of their ids. */
  readonly firstId: bigint;
  readonly lastId: bigint;
}

export interface MergeOptions {
  /** Nothing is added if the store ever had a pet. If several processes merge at once, one of them adds. */
  readonly onlyFirst?: boolean;
  /** The store's pets get the given values, whatever they are. */
  readonly update?: boolean;
  /** Nothing is changed, and no other writer is blocked. */
  readonly dryRun?: boolean;
  /** Called, before a pet is added, with the id in the store from which on it has the first pets without an id. */
  readonly onSame?: (id: bigint) => void;
  /** Called with `update`, before a pet is changed. */
  readonly onCorrections?: (corrections: Corrections) => Promise<void>;
  /** Called before the commit, with the pets that got new ids. */
  readonly onCommit?: (withNewIds: AddedPets) => void;
}

export interface Correction {
  readonly was: Pet;
  readonly is: Pet;
}

export interface Corrections {
  readonly count: number;
  /** How many pets get another value, how many lose their value, and for how many of these the file lacks the field. */
  readonly fields: readonly {
    readonly name: keyof NewPet;
    readonly changed: number;
    readonly removed: number;
    readonly lacking: number;
  }[];
  /** Gives them by id, up to a thousand at once. */
  list(): AsyncIterable<readonly Correction[]>;
}

export interface MergedPets {
  readonly added: number;
  readonly corrected: number;
  readonly unchanged: number;
  /** Of the added pets, the pets that got new ids. */
  readonly withNewIds: AddedPets;
}

/** Ids from the first to the last. A range of several ids may have gaps. */
export interface IdRange {
  readonly first: bigint;
  readonly last: bigint;
}

export interface PetPage {
  readonly pets: readonly Pet[];
  /** The `after` of the next page; absent on the last page. */
  readonly next?: bigint;
}

export interface JsonPage extends Pick<PetPage, 'next'> {
  readonly json: string;
}

/** Times are in milliseconds since 1970. */
export interface KeyStore {
  add(newKey: NewApiKey): Promise<ApiKey>;

  /**
   * The key in any state. What another process changed is seen within one second. Only the lookup of a digest that
   * was found before does not wait behind others: these may be invented.
   */
  find(digest: Uint8Array, wasFound?: boolean): Promise<ApiKey | undefined>;

  /** All keys in any state, by id. */
  list(): Promise<ApiKey[]>;

  /** Sets the time of last use; does nothing when there is no such key. */
  touch(id: number, usedAt: number): Promise<void>;

  /** A key that is revoked already keeps its time. @throws PetstoreError `not_found` when there is no such key. */
  revoke(id: number, revokedAt: number): Promise<void>;

  /**
   * Adds the new key and, in the same transaction, makes the old one expire at `oldExpiresAt`, unless it expires sooner.
   *
   * @throws PetstoreError `not_found` when the old key is not active at the `createdAt` of the new key, or was rotated.
   */
  rotate(id: number, newKey: NewApiKey, oldExpiresAt: number): Promise<ApiKey>;
}
