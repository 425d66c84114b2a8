/** The error answers and the headers of answers, as the document describes them. */

import { type ErrorCode, PetstoreError } from '../../error.ts';
import { DEFAULT_MESSAGES, STATUSES, toErrorBody } from '../errors.ts';
import { ErrorRef } from './components.ts';

type Messages = Partial<Record<ErrorCode, string>>;

/** On every answer to a known key, when the operator has set a limit. */
export const rateLimitHeaders = {
  RateLimit: {
    type: 'string',
    description:
      'How many more requests the key may send now (`r`), for so many seconds (`t`), as in `"default";r=50;t=1`; absent when requests are not limited (draft-ietf-httpapi-ratelimit-headers-11).',
    'x-stability': 'beta',
  },
  'RateLimit-Policy': {
    type: 'string',
    description:
      'The limit of each key: requests (`q`) in so many seconds (`w`), and how many at once, as in `"default";q=100;w=1;petstore-burst=200`.',
    'x-stability': 'beta',
  },
};

/** A response of the Error shape with an example for each code; `messages` replace default ones. */
export function errorResponse(
  description: string,
  codes: readonly ErrorCode[],
  messages: Messages = {},
) {
  const examples = codes.map((code) => {
    const error = new PetstoreError(code, messages[code] ?? DEFAULT_MESSAGES[code]);
    return [code, { summary: `Status ${STATUSES[code]}`, value: toErrorBody(error) }];
  });
  return {
    description,
    headers: rateLimitHeaders,
    content: {
      'application/json': { schema: ErrorRef, examples: Object.fromEntries(examples) },
    },
  };
}

/** The one response for all statuses that the interface does not declare for an operation. */
export function otherErrors(codes: readonly ErrorCode[], messages?: Messages) {
  const all = [...codes, 'rate_limited', 'internal_error', 'unavailable'] as const;
  return {
    ...errorResponse('Any other error; an example of each is here.', all, messages),
    headers: {
      'Retry-After': { type: 'integer', description: 'After how many seconds to try again.' },
      ...rateLimitHeaders,
    },
  };
}

export const unauthorized = {
  ...errorResponse('Missing or invalid API key.', ['unauthorized']),
  headers: {
    'WWW-Authenticate': { type: 'string', description: 'The challenge (RFC 6750 section 3).' },
  },
};

export const deprecationHeaders = {
  Deprecation: { type: 'string', description: 'Since when it is deprecated (RFC 9745).' },
  Sunset: { type: 'string', description: 'When it is to be removed (RFC 8594).' },
  Link: { type: 'string', description: 'The documentation, with `rel="deprecation"`.' },
};
