/** The error answers and the headers of answers, as the document describes them. */

import { type ErrorCode, PetstoreError } from '../../error.ts';
import { DEFAULT_MESSAGES, STATUSES, toErrorBody } from '../errors.ts';
import { ErrorRef } from './components.ts';

type Messages = Partial<Record<ErrorCode, string>>;

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
    content: {
      'application/json': { schema: ErrorRef, examples: Object.fromEntries(examples) },
    },
  };
}

/** The one response for all statuses that the interface does not declare for an operation. */
export function otherErrors(codes: readonly ErrorCode[], messages?: Messages) {
  const all = [...codes, 'internal_error', 'unavailable'] as const;
  return errorResponse('Any other error; an example of each is here.', all, messages);
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
