/** `npm run generate`: writes the texts that come from the tables of `src/`. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './run.ts';
import { createTexts } from './tables.ts';

for (const [file, text] of createTexts()) writeFileSync(join(ROOT, file), text);
