/** The typed client in this process: its scenarios. */

import { after, describe, test } from 'node:test';
import * as client from '../../client/petstore-client.ts';
import { openPlace } from '../support/client-place.ts';
import { SCENARIOS } from './scenarios/all.ts';

const served = await openPlace();
after(() => served[Symbol.asyncDispose]());

describe('scenarios', () => {
  for (const [name, run] of Object.entries(SCENARIOS)) {
    test(name, () => run({ ...served, client, runtime: 'node' }));
  }
});
