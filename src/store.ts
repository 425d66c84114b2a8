/** The port to the database: what a store promises, method by method. How it keeps it is in storage/. */

import type { Environment } from './api-key.ts';
import type { NewPet, Pet, PetStatus } from './pet.ts';

/**
 * A store of animals and keys. Every method may also throw PetstoreError `unavailable` when the
 * database cannot answer in time; what was not answered may be tried again.
 */
export interface Store {
  readonly pets: PetStore;
  readonly keys: KeyStore;

  /** Resolves when the database answers. */
  check(): Promise<void>;

  /**
   * Writes a copy of the whole store, of one moment, to a new file, while others read and write.
   *
   * @throws PetstoreError `bad_request` when the file exists or cannot be written.
   */
  backup(file: string): Promise<void>;

  /** Lets go of the database. No method may be called afterwards. */
  close(): Promise<void>;
}

export interface PetStore {
  /** Adds an animal. Resolves once it is on the disk. */
  add(newPet: NewPet): Promise<Pet>;

  /**
   * Adds an animal, unless the same request did so within the last 24 hours: then that animal.
   *
   * @throws PetstoreError `idempotency_key_reused` when that request was for another animal.
   */
  addOnce(newPet: NewPet, request: IdempotentRequest): Promise<Pet>;

  /**
   * Adds all the animals or, when the iteration or the database fails, none. They get ids in their
   * order. Resolves to their count once they are on the disk; needs memory for a few, not for all.
   */
  addAll(newPets: AsyncIterable<NewPet>): Promise<number>;

  /** The animal with that id, or undefined. */
  find(id: bigint): Promise<Pet | undefined>;

  /**
   * A page of the animals, by id, ascending. Following `next` to its end meets every animal that
   * was there at the start once, whatever is added meanwhile.
   */
  list(query: PetQuery): Promise<PetPage>;

  /**
   * The same page as JSON text (the interface's Pets), which costs less than its animals. A page that
   * the store has kept is returned at once, not as a promise.
   */
  listJson(query: PetQuery): JsonPage | Promise<JsonPage>;
}

/** For how long a request is known again. */
export const IDEMPOTENCY_MS = 24 * 60 * 60 * 1000;

/** What a client names, so that it can send it again. */
export interface IdempotentRequest {
  /** The API key, which has names of its own. */
  readonly keyId: number;
  /** 1 to 255 visible ASCII characters. */
  readonly key: string;
  /** When it came, in milliseconds since 1970. */
  readonly at: number;
}

export interface PetQuery {
  /** The most animals to return; at least 1. */
  readonly limit: number;
  /** Only animals of this status. */
  readonly status?: PetStatus;
  /** Only animals with a greater id. */
  readonly after?: bigint;
}

export interface PetPage {
  readonly pets: readonly Pet[];
  /** The `after` of the next page; absent when this page is the last. */
  readonly next?: bigint;
}

export interface JsonPage {
  readonly json: string;
  /** As in {@link PetPage}. */
  readonly next?: bigint;
}

/** What is kept of an API key. Times are in milliseconds since 1970. */
export interface ApiKey {
  /** Counts up from 1. Names the key to the operator and in the log. */
  readonly id: number;
  readonly name: string;
  readonly environment: Environment;
  readonly createdAt: number;
  /** Refused from this time on; absent: never. */
  readonly expiresAt?: number;
  readonly lastUsedAt?: number;
  /** Refused since this time; absent: not revoked. */
  readonly revokedAt?: number;
  /** When another key was made in its place; absent: not yet. */
  readonly rotatedAt?: number;
}

export interface NewApiKey {
  /** See digestApiKey. */
  readonly digest: Uint8Array;
  readonly name: string;
  readonly environment: Environment;
  readonly createdAt: number;
  readonly expiresAt?: number;
}

export interface KeyStore {
  add(newKey: NewApiKey): Promise<ApiKey>;

  /**
   * The key with that digest, expired and revoked ones too, or undefined. What another process
   * changed is seen within one second.
   */
  find(digest: Uint8Array): Promise<ApiKey | undefined>;

  /** All keys, expired and revoked ones too, by id. */
  list(): Promise<ApiKey[]>;

  /** Notes that the key was used. */
  touch(id: number, usedAt: number): Promise<void>;

  /**
   * Refuses the key from now on; one that is revoked already keeps its time.
   *
   * @throws PetstoreError `not_found` when there is no such key.
   */
  revoke(id: number, revokedAt: number): Promise<void>;

  /**
   * Adds the new key and, in the same step, lets the old one expire at that time, unless it would
   * expire sooner by itself.
   *
   * @throws PetstoreError `not_found` when there is no such key, or it is revoked or rotated.
   */
  rotate(id: number, newKey: NewApiKey, oldExpiresAt: number): Promise<ApiKey>;
}
