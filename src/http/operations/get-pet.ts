/** `GET /pets/{petId}`: a single pet. */

import { PetstoreError } from '../../error.ts';
import { findCanonicalInt64 } from '../../int64.ts';
import { toPetJson } from '../../pet.ts';
import { defineOperation } from './operation.ts';

/** The day of `sunset` in words. To make them of the date, Node would load its tables of languages: 60 ms, 10 MB. */
export const SUNSET_DAY = '5 December 2030';

export const getPet = defineOperation({
  method: 'GET',
  path: '/pets/{petId}',
  operationId: 'getPet',
  summary: 'Get an animal',
  description: `Deprecated: it is to be removed on ${SUNSET_DAY}. The operator may remove it before: then it answers 410. Use \`GET /pets\` with the \`status\` filter instead.`,
  deprecation: {
    since: new Date('2026-11-21'),
    sunset: new Date('2030-12-05'),
    isRetired: ({ retireGetPet }) => retireGetPet,
  },
  parameters: {
    petId: {
      place: 'path',
      description: 'Identifier of the animal to retrieve.',
      // No maximum: tools in JavaScript would round it to a number that is no int64.
      schema: { type: 'integer', format: 'int64', minimum: 1 },
      example: 1,
      /** Any other text is the id of no pet. */
      parse(value: string | undefined): bigint {
        const petId = findCanonicalInt64(value ?? '');
        if (petId === undefined) throw new PetstoreError('not_found');
        return petId;
      },
    },
  },
  success: { status: 200, description: 'The requested animal.', schema: 'Pet' },
  ofInterface: ['unauthorized', 'not_found'],
  others: [new PetstoreError('gone')],

  async handle({ pets }, { petId }) {
    const pet = await pets.find(petId);
    if (pet === undefined) throw new PetstoreError('not_found');
    return toPetJson(pet);
  },
});
