/** The error answers and the headers of answers, as the document describes them. */

import { ERRORS, type ErrorCode, PetstoreError } from '../../error.ts';
import { toErrorBody } from '../errors.ts';
import { COMPONENTS, refTo } from './components.ts';

type Messages = Partial<Record<ErrorCode, string>>;

/** Marks a part that may still change. */
export function beta<T extends { readonly description: string }>(part: T) {
  return { ...part, description: `Beta. ${part.description}`, 'x-stability': 'beta' };
}

/** A header whose value is a text of so many characters at most. */
export const text = (description: string, maxLength: number, pattern?: string) => ({
  schema: { type: 'string', maxLength, pattern },
  description,
});

const requestId = {
  'X-Request-Id': text(
    'Names this request in the log: the one that was sent, or a new one.',
    128,
    '^[A-Za-z0-9_.-]+$',
  ),
};

/** On every answer to a known key; those of the limit only when the operator has set one. */
const commonHeaders = {
  RateLimit: beta(
    text(
      'How many more requests the key may send now (`r`), for so many seconds (`t`), as in `"default";r=50;t=1`; absent when requests are not limited (draft-ietf-httpapi-ratelimit-headers-11).',
      128,
    ),
  ),
  'RateLimit-Policy': beta(
    text(
      'The limit of each key: requests (`q`) in so many seconds (`w`), and how many at once, as in `"default";q=100;w=1;petstore-burst=200`.',
      128,
    ),
  ),
  ...requestId,
};

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
    headers: {
      'Retry-After': {
        schema: { type: 'integer', minimum: 1 },
        description:
          'On a 429 and a 503: after how many seconds to try again; after a 503 a POST only with the `Idempotency-Key` that it had.',
      },
      ...commonHeaders,
    },
  };
}

export const unauthorized = {
  ...errorResponse('Missing or invalid API key.', ['unauthorized']),
  headers: {
    'WWW-Authenticate': text('The challenge (RFC 6750 section 3).', 128),
    ...requestId,
  },
};

/** The longest address of a link, which begins with `--base-url`. */
export const LINK_CHARACTERS_MAX = 8_192;

export const deprecationHeaders = {
  Deprecation: text('Since when it is deprecated (RFC 9745).', 32),
  Sunset: text('When it is to be removed (RFC 8594).', 32),
  Link: text('The documentation, with `rel="deprecation"`.', LINK_CHARACTERS_MAX),
};
