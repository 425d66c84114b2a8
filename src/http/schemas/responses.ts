/** The error answers and the headers of answers, as the document describes them. */

import { ERRORS, type ErrorCode, PetstoreError } from '../../error.ts';
import { toErrorBody } from '../errors.ts';
import { EXPOSED_FIELDS, type HeaderField } from '../headers.ts';
import { COMPONENTS, refTo } from './components.ts';

/** An error that an operation may answer with. */
export interface DescribedError {
  readonly code: ErrorCode;
  /** The message of the example, in place of the default one. */
  readonly message?: string;
}

/** Marks a part that may still change. */
export function beta<T extends { readonly description: string }>(part: T) {
  return { ...part, description: `Beta. ${part.description}`, 'x-stability': 'beta' };
}

/** Header fields of a response, in this order, from the list of all. */
export function describeHeaders(...names: readonly (keyof typeof EXPOSED_FIELDS)[]) {
  return Object.fromEntries(
    names.map((name) => {
      const { schema, description = '', isBeta }: HeaderField = EXPOSED_FIELDS[name];
      const part = { schema, description };
      return [name, isBeta ? beta(part) : part];
    }),
  );
}

/** `Link`, whose meaning differs between the operations. */
export const describeLink = (description: string) => ({
  schema: EXPOSED_FIELDS.Link.schema,
  description,
});

/** On every answer to a known key; those of the limit only when the operator has set one. */
const commonHeaders = describeHeaders('RateLimit', 'RateLimit-Policy', 'X-Request-Id');

/** JSON of a component, with the example of that. */
export function describeContent(name: 'NewPet' | 'Pet' | 'Pets') {
  return { 'application/json': { schema: refTo(name), example: COMPONENTS[name].examples[0] } };
}

/** The answer of a success, with headers of its own before those of all. */
export function describeSuccess(description: string, name: 'Pet' | 'Pets', headers: object) {
  return {
    description,
    headers: { ...headers, ...commonHeaders },
    content: describeContent(name),
  };
}

/** A response of the Error shape with an example for each code. */
export function errorResponse(description: string, errors: readonly DescribedError[]) {
  const examples = errors.map(({ code, message }) => {
    const error = new PetstoreError(code, message);
    return [code, { summary: `Status ${ERRORS[code].status}`, value: toErrorBody(error) }];
  });
  return {
    description,
    headers: commonHeaders,
    content: {
      'application/json': { schema: refTo('Error'), examples: Object.fromEntries(examples) },
    },
  };
}

/** What every operation may answer with, beside `unauthorized`. */
const COMMON_ERRORS: readonly DescribedError[] = [
  { code: 'headers_too_large' },
  { code: 'request_timeout' },
  { code: 'rate_limited' },
  { code: 'internal_error' },
  { code: 'unavailable' },
];

/** The one response for all statuses that the interface does not declare for an operation. */
export function otherErrors(errors: readonly DescribedError[]) {
  const all = [...errors, ...COMMON_ERRORS];
  return {
    ...errorResponse('Any other error; an example of each is here.', all),
    headers: { ...describeHeaders('Retry-After'), ...commonHeaders },
  };
}

export const unauthorized = {
  ...errorResponse('Missing or invalid API key.', [{ code: 'unauthorized' }]),
  headers: describeHeaders('WWW-Authenticate', 'X-Request-Id'),
};

export const deprecationHeaders = {
  ...describeHeaders('Deprecation', 'Sunset'),
  Link: describeLink('The documentation, with `rel="deprecation"`.'),
};
