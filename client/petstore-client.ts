/** The typed client of the petstore, for Node, Bun, Deno and browsers, without a dependency. */

import { createInvalidAnswer } from './client-error.ts';
import {
  type CallOptions,
  type CreateOptions,
  checkOptions,
  type ListOptions,
  type PetstoreClientOptions,
} from './client-options.ts';
import {
  type Integer,
  type IntegerKind,
  type NewPet,
  type Pet,
  toDigits,
  toJson,
  toPet,
} from './pet-json.ts';
import { type Answer, send } from './send.ts';

export { PetstoreClientError, type PetstoreClientErrorCode } from './client-error.ts';
export type * from './client-options.ts';
export type { ErrorCode, ListQuery, PetStatus } from './interface.ts';
export { type Integer, type IntegerKind, type NewPet, type Pet, toJson } from './pet-json.ts';

export interface PetPage<Integers extends IntegerKind = 'bigint'> {
  readonly pets: readonly Pet<Integers>[];
  /** The `cursor` of the next page; absent on the last page. */
  readonly next?: string;
}

export type CreatedPet<Integers extends IntegerKind = 'bigint'> = Pet<Integers> & {
  /** Whether an earlier request added the pet, also an earlier try of the same call. */
  readonly replayed: boolean;
};

export class PetstoreClient<Integers extends IntegerKind = 'bigint'> {
  readonly #options: PetstoreClientOptions<Integers> & { readonly integers: Integers };

  /** @throws TypeError if an option is missing or wrong. */
  constructor(options: PetstoreClientOptions<Integers>) {
    checkOptions(options);
    const { baseUrl, integers = 'bigint' as Integers } = options;
    this.#options = { ...options, baseUrl: baseUrl.replace(/\/$/, ''), integers };
  }

  /** All pets that the filters keep, by ascending id. The next page is read when it is needed. */
  async *list(options: ListOptions = {}): AsyncGenerator<Pet<Integers>, void, undefined> {
    let { cursor } = options;
    do {
      const { pets, next } = await this.listPage({ ...options, cursor });
      yield* pets;
      cursor = next;
    } while (cursor !== undefined);
  }

  async listPage(options: ListOptions = {}): Promise<PetPage<Integers>> {
    const { signal, timeoutMs, retries, headers, ...asked } = options;
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(asked)) {
      if (value !== undefined) query.set(name, String(value));
    }
    const path = `/pets?${query}`;
    const { response, body } = await send(this.#options, { method: 'GET', path, options });
    if (!Array.isArray(body)) throw createInvalidAnswer(response);
    const next = findCursor(response.headers.get('link') ?? '');
    const pets = body.map((pet) => toPet(pet, this.#options.integers, response));
    return next === undefined ? { pets } : { pets, next };
  }

  /** Adds one pet, however often it is sent. If you repeat the call, give the same `idempotencyKey` each time. */
  async create(newPet: NewPet, options: CreateOptions = {}): Promise<CreatedPet<Integers>> {
    const { idempotencyKey = createIdempotencyKey() } = options;
    const answer = await send(this.#options, {
      method: 'POST',
      path: '/pets',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
      body: toJson(newPet),
      options,
    });
    const replayed = answer.response.headers.get('idempotency-replayed') === 'true';
    return { ...this.#readPet(answer), replayed };
  }

  /**
   * The pet with this id.
   *
   * @deprecated The service is to remove the operation: use {@link list}. Its answers say when, in `Sunset`.
   */
  async get(id: Integer, options: CallOptions = {}): Promise<Pet<Integers>> {
    const path = `/pets/${toDigits('id', id)}`;
    return this.#readPet(await send(this.#options, { method: 'GET', path, options }));
  }

  #readPet({ response, body }: Answer): Pet<Integers> {
    return toPet(body, this.#options.integers, response);
  }
}

/** A random key. Browsers have `randomUUID` only on pages with HTTPS. */
export function createIdempotencyKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}

/** The `cursor` of the next page, without the host of the link: the key goes only to `baseUrl`. */
function findCursor(link: string): string | undefined {
  const address = /<([^<>]*)>; rel="next"/.exec(link)?.[1] ?? '';
  return new URLSearchParams(address.split('?')[1]).get('cursor') ?? undefined;
}
