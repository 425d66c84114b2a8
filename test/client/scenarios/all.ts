/** What the client promises on every runtime. */

import type { Scenarios } from './check.ts';
import { FAILURE_SCENARIOS } from './failures.ts';
import { OPTION_SCENARIOS } from './options.ts';
import { PET_SCENARIOS } from './pets.ts';

export const SCENARIOS: Scenarios = {
  ...PET_SCENARIOS,
  ...FAILURE_SCENARIOS,
  ...OPTION_SCENARIOS,
};
