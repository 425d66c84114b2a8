/** `POST /pets`: adds a pet, once for each Idempotency-Key. */

import { badRequest, IDEMPOTENT_PET_REMOVED, PetstoreError } from '../../error.ts';
import { parseNewPet, toPetJson } from '../../pet.ts';
import { IDEMPOTENCY_MS } from '../../store.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { defineOperation } from './operation.ts';

const LENGTH_MAX = HTTP_LIMITS.IDEMPOTENCY_KEY_CHARACTERS_MAX.value;
const KEY = /^[!-~]+$/;

export const createPet = defineOperation({
  method: 'POST',
  path: '/pets',
  operationId: 'createPet',
  summary: 'Add an animal',
  description: 'Adds a pet. It is on the disk before the answer is sent.',
  parameters: {
    'Idempotency-Key': {
      place: 'header',
      description: `Names this create, so that sending it again adds nothing. For ${IDEMPOTENCY_MS / 3_600_000} h, the same key with the same pet answers with that pet as it is now, or 410 if it was removed. With another pet it is a 422, while the pet is there. Each API key has names of its own.`,
      isBeta: true,
      schema: { type: 'string', minLength: 1, maxLength: LENGTH_MAX, pattern: KEY.source },
      parse(value: string | undefined): string | undefined {
        // Two fields arrive joined by a comma and a space, and the pattern takes no space.
        if (value === undefined || (value.length <= LENGTH_MAX && KEY.test(value))) return value;
        const rule = `must be given once, 1 to ${LENGTH_MAX} visible ASCII characters`;
        throw badRequest(`Idempotency-Key ${rule}`);
      },
    },
  },
  body: { schema: 'NewPet', parse: parseNewPet },
  success: {
    status: 201,
    description: 'Animal added. The body carries the assigned `id`.',
    schema: 'Pet',
    headers: ['Location', 'Idempotency-Replayed'],
    links: {
      getPet: {
        operationId: 'getPet',
        parameters: { petId: '$response.body#/id' },
        description: 'Beta. The pet that was added, until `getPet` is removed.',
        'x-stability': 'beta',
      },
    },
  },
  ofInterface: ['bad_request', 'unauthorized'],
  others: [
    new PetstoreError('forbidden'),
    new PetstoreError('gone', IDEMPOTENT_PET_REMOVED),
    new PetstoreError('payload_too_large'),
    new PetstoreError('unsupported_media_type'),
    new PetstoreError('idempotency_key_reused'),
  ],

  async handle({ pets, base }, { body: newPet, 'Idempotency-Key': key }, reply) {
    const { keyId } = reply.request;
    const { pet, isReplay } =
      key === undefined || keyId === null
        ? { pet: await pets.add(newPet), isReplay: false }
        : await pets.addOnce(newPet, { keyId, key });
    reply.header('location', `${base}/v1/pets/${pet.id}`);
    if (isReplay) reply.header('idempotency-replayed', 'true');
    return toPetJson(pet);
  },
});
