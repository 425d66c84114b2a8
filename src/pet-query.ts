/** The query of a list: the table of its members. All code that reads or writes a whole query is derived from it. */

import { badRequest } from './error.ts';
import { NEW_PET_FIELDS, type NewPet, type NewPetField } from './pet.ts';
import { type JsonSchema, toFieldValue } from './pet-field.ts';

/** The order of a list, and its pets that are after a pet, in words. */
export const LIST_ORDER = 'by `id`, ascending';
export const AFTER_PET = 'only pets with a greater id';

/** The number of pets on a page: the interface's `limit` ("Limits"). */
export const PAGE_LIMIT_MAX = 100;
export const PAGE_LIMIT_DEFAULT = 20;

/** The filters, by the names of their fields. A filter keeps the pets whose field has its value. */
const FILTER_TABLE = {
  status: 'Filters by availability status.',
} as const satisfies { readonly [Name in keyof NewPet]?: string };

type PetFilters = {
  readonly [Name in keyof typeof FILTER_TABLE]?: NewPet[Name] | undefined;
};

/** What a client asks for. It is the same for all pages of a list. */
export interface ListQuery extends PetFilters {
  readonly limit: number;
}

export interface PetQuery extends ListQuery {
  readonly after?: bigint | undefined;
}

interface QueryMember {
  readonly description: string;
  /** A query without this member has the value of `default`. */
  readonly schema: JsonSchema;
  readonly schemaName?: string;
  readonly example?: unknown;
  /** @throws PetstoreError `bad_request` for a text that is no value of this member. */
  readonly parse: (text: string) => unknown;
}

export const WRONG_LIMIT = badRequest(`limit must be a whole number from 1 to ${PAGE_LIMIT_MAX}`);

const MEMBER_TABLE: {
  readonly [Name in Exclude<keyof ListQuery, keyof PetFilters>]: QueryMember;
} = {
  limit: {
    description: 'Maximum number of animals to return.',
    schema: { type: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX, default: PAGE_LIMIT_DEFAULT },
    parse(text) {
      if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= PAGE_LIMIT_MAX) return Number(text);
      throw WRONG_LIMIT;
    },
  },
};

const isFilter = (field: NewPetField): field is NewPetField & { name: keyof PetFilters } =>
  field.name in FILTER_TABLE;

export const PET_FILTERS = NEW_PET_FIELDS.filter(isFilter);

/** The members of ListQuery, in the order of the document and of links. */
export const LIST_QUERY = [
  ...Object.entries(MEMBER_TABLE).map(([name, member]) => ({ ...member, name })),
  ...PET_FILTERS.map((field) => ({
    ...field,
    description: FILTER_TABLE[field.name],
    // Without an example, tools try 0.
    ...(field.kind === 'int64' && { example: 1 }),
    parse: (text: string) => field.parse(toFieldValue(field, text)),
  })),
] as readonly (QueryMember & { readonly name: keyof ListQuery })[];

/** The query as in an address, such as `limit=20&status=sold`. */
export function toQueryText(query: ListQuery): string {
  let text = '';
  for (const { name } of LIST_QUERY) {
    const value = query[name];
    if (value !== undefined) text += `&${name}=${encodeURIComponent(String(value))}`;
  }
  return text.slice(1);
}
