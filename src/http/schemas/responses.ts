/** The error answers and the headers of answers, as the document describes them. */

import { ERRORS, type ErrorCode, PetstoreError } from '../../error.ts';
import { toErrorBody } from '../errors.ts';
import { EXPOSED_FIELDS, type HeaderField } from '../headers.ts';
import { COMPONENTS, refTo } from './components.ts';

type Messages = Partial<Record<ErrorCode, string>>;

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
export function success(description: string, name: 'Pet' | 'Pets', headers: object) {
  return {
    description,
    headers: { ...headers, ...commonHeaders },
    content: describeContent(name),
  };
}

/** A response of the Error shape with an example for each code; `messages` replace default ones. */
export function errorResponse(
  description: string,
  codes: readonly ErrorCode[],
  messages: Messages = {},
) {
  const examples = codes.map((code) => {
    const error = new PetstoreError(code, messages[code]);
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

/** The one response for all statuses that the interface does not declare for an operation. */
export function otherErrors(codes: readonly ErrorCode[], messages?: Messages) {
  const all = [...codes, 'rate_limited', 'internal_error', 'unavailable'] as const;
  return {
    ...errorResponse('Any other error; an example of each is here.', all, messages),
    headers: { ...describeHeaders('Retry-After'), ...commonHeaders },
  };
}

export const unauthorized = {
  ...errorResponse('Missing or invalid API key.', ['unauthorized']),
  headers: describeHeaders('WWW-Authenticate', 'X-Request-Id'),
};

export const deprecationHeaders = {
  ...describeHeaders('Deprecation', 'Sunset'),
  Link: describeLink('The documentation, with `rel="deprecation"`.'),
};
