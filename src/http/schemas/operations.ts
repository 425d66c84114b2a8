/** The three operations of the interface, as the document describes them. */

import { IDEMPOTENT_PET_REMOVED } from '../../error.ts';
import { SUNSET } from '../hooks/deprecation.ts';
import { idempotencyKeyParameter, LIMIT_RULE, listParameters, petIdParameter } from './requests.ts';
import {
  beta,
  deprecationHeaders,
  describeContent,
  describeHeaders,
  describeLink,
  errorResponse,
  otherErrors,
  success,
  unauthorized,
} from './responses.ts';

const listPets = {
  operationId: 'listPets',
  summary: 'List animals',
  tags: ['animals'],
  description:
    'Returns a page of the pets, by id, ascending. When there are more, a `Link` with `rel="next"` leads to the next page.',
  parameters: listParameters,
  responses: {
    200: success('A page of animals.', 'Pets', {
      Link: beta(
        describeLink('The next page, with `rel="next"` (RFC 8288); absent on the last one.'),
      ),
    }),
    401: unauthorized,
    default: otherErrors(['bad_request', 'headers_too_large', 'request_timeout'], {
      bad_request: LIMIT_RULE,
    }),
  },
};

const createPet = {
  operationId: 'createPet',
  summary: 'Add an animal',
  tags: ['animals'],
  description: 'Adds a pet. It is on the disk before the answer is sent.',
  requestBody: { required: true, content: describeContent('NewPet') },
  parameters: [idempotencyKeyParameter],
  responses: {
    201: {
      ...success(
        'Animal added. The body carries the assigned `id`.',
        'Pet',
        describeHeaders('Location', 'Idempotency-Replayed'),
      ),
      links: {
        getPet: {
          operationId: 'getPet',
          parameters: { petId: '$response.body#/id' },
          description: 'The pet that was added.',
        },
      },
    },
    400: errorResponse(
      'The body is missing required fields or has invalid values.',
      ['bad_request'],
      { bad_request: 'name is required' },
    ),
    401: unauthorized,
    default: otherErrors(
      [
        'forbidden',
        'gone',
        'payload_too_large',
        'unsupported_media_type',
        'idempotency_key_reused',
        'headers_too_large',
        'request_timeout',
      ],
      { gone: IDEMPOTENT_PET_REMOVED },
    ),
  },
};

const getPet = {
  operationId: 'getPet',
  summary: 'Get an animal',
  tags: ['animals'],
  description:
    'Deprecated: it is to be removed on 5 December 2030. Use `GET /pets` with the `status` filter instead.',
  parameters: [petIdParameter],
  deprecated: true,
  'x-deprecated-sunset': SUNSET.toISOString().slice(0, 10),
  responses: {
    200: success('The requested animal.', 'Pet', deprecationHeaders),
    401: unauthorized,
    404: errorResponse('The requested resource could not be found.', ['not_found']),
    default: otherErrors(['gone', 'headers_too_large', 'request_timeout']),
  },
};

/** By their path below `/v1`, and their method. */
export const PATHS = {
  '/pets': { get: listPets, post: createPet },
  '/pets/{petId}': { get: getPet },
};
