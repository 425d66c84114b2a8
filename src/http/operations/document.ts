/** The operations as the document describes them: by path and method. */

import { badRequest, ERRORS, type ErrorCode, PetstoreError } from '../../error.ts';
import { COMPONENTS, refTo } from '../components.ts';
import { toErrorBody } from '../error-answers.ts';
import { EXPOSED_FIELDS, type HeaderName } from '../headers.ts';
import { type BodySchema, type Operation, type Parameter, SHARED_NAMES } from './operation.ts';
import { OPERATIONS } from './operations.ts';

export const TAG = { name: 'animals', description: 'The pets of the store.' };

/** On every answer to a known key; the fields of the rate limit only if the operator has set it. */
const COMMON_HEADERS = ['RateLimit', 'RateLimit-Policy', 'X-Request-Id'] as const;

const COMMON_ERRORS = [
  new PetstoreError('headers_too_large'),
  new PetstoreError('request_timeout'),
  new PetstoreError('internal_error'),
];

const DEPRECATION_HEADERS = {
  ...describeHeaders(['Deprecation', 'Sunset']),
  Link: beta({
    ...EXPOSED_FIELDS.Link,
    description: 'The documentation, with `rel="deprecation"`.',
    example: '</docs>; rel="deprecation"; type="text/html"',
  }),
};

/** The responses that the interface names, and those that every client must handle: each has all codes of its status. */
export const SHARED_RESPONSES = {
  Unauthorized: describeErrors(
    'Missing or invalid API key.',
    [new PetstoreError('unauthorized')],
    ['WWW-Authenticate', 'X-Request-Id'],
  ),
  BadRequest: describeErrors('The body is missing required fields or has invalid values.', [
    badRequest('name is required'),
  ]),
  NotFound: describeErrors('The requested resource could not be found.', [
    new PetstoreError('not_found'),
  ]),
  TooManyRequests: describeRetried(429, 'Too many requests. Nothing was done.'),
  ServiceUnavailable: describeRetried(
    503,
    'The service cannot answer now. A create may have been done.',
  ),
};

const refToShared = (name: keyof typeof SHARED_RESPONSES) => ({
  $ref: `#/components/responses/${name}`,
});

export function describePaths(): Readonly<Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of OPERATIONS) {
    const { method, path } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: describeOperation(operation) };
  }
  return paths;
}

function describeOperation(operation: Operation) {
  const { operationId, summary, description, body, parameters, deprecation } = operation;
  return {
    operationId,
    summary,
    tags: [TAG.name],
    description,
    requestBody: body && { required: true, content: describeContent(body.schema) },
    parameters: Object.entries(parameters).map(describeParameter),
    deprecated: deprecation && true,
    'x-deprecated-sunset': deprecation?.sunset.toISOString().slice(0, 10),
    responses: describeResponses(operation),
  };
}

function describeContent(schema: BodySchema) {
  const isNamed = typeof schema === 'string';
  const { example } = isNamed ? COMPONENTS[schema] : schema;
  return { 'application/json': { schema: isNamed ? refTo(schema) : schema, example } };
}

function describeParameter([name, parameter]: [string, Parameter<unknown>]) {
  const { place, description, schema, example, isBeta } = parameter;
  const required = place === 'path';
  const described = { schema, example, in: place, name, required, description };
  return isBeta ? beta(described) : described;
}

function describeResponses(operation: Operation) {
  const { description, status, schema, headers: own = [], links } = operation.success;
  const others = [...operation.others, ...COMMON_ERRORS];
  return {
    [status]: {
      description,
      headers: {
        ...(operation.deprecation && DEPRECATION_HEADERS),
        ...describeHeaders([...own, ...COMMON_HEADERS]),
      },
      content: schema && describeContent(schema),
      links,
    },
    ...Object.fromEntries(
      operation.ofInterface.map((code) => [ERRORS[code].status, refToShared(SHARED_NAMES[code])]),
    ),
    429: refToShared('TooManyRequests'),
    503: refToShared('ServiceUnavailable'),
    default: beta(describeErrors('Any other error; an example of each is here.', others)),
  };
}

function describeRetried(status: number, description: string) {
  const all = Object.keys(ERRORS) as ErrorCode[];
  const codes = all.filter((code) => ERRORS[code].status === status);
  const errors = codes.map((code) => new PetstoreError(code));
  return beta(describeErrors(description, errors, ['Retry-After', ...COMMON_HEADERS]));
}

function describeErrors(
  description: string,
  errors: readonly PetstoreError[],
  headers: readonly HeaderName[] = COMMON_HEADERS,
) {
  const examples = errors.map((error) => {
    const value = toErrorBody(error);
    return [error.code, { summary: `Status ${value.status}`, value }];
  });
  return {
    description,
    headers: describeHeaders(headers),
    content: {
      'application/json': { schema: refTo('Error'), examples: Object.fromEntries(examples) },
    },
  };
}

function describeHeaders(names: readonly HeaderName[]): Readonly<Record<string, object>> {
  return Object.fromEntries(names.map((name) => [name, beta(EXPOSED_FIELDS[name])]));
}

/** Marks a part that the interface does not have: it may still change. */
function beta<T extends { readonly description?: string }>(part: T) {
  return { ...part, description: `Beta. ${part.description}`, 'x-stability': 'beta' };
}
