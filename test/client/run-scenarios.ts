/** Runs all scenarios on this runtime, at the place that its argument describes as JSON. */

import process from 'node:process';
import * as client from '../../client/petstore-client.ts';
import { SCENARIOS } from './scenarios/all.ts';

const place = { ...JSON.parse(process.argv[2] ?? ''), client };
for (const [name, run] of Object.entries(SCENARIOS)) {
  try {
    await run(place);
    console.log(`passed: ${name}`);
  } catch (error) {
    console.error(`failed: ${name}`, error);
    process.exitCode = 1;
  }
}
