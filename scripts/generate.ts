/** `npm run generate`: writes what is made of the tables of `src/`. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './run.ts';
import { createTexts } from './tables.ts';

for (const [file, text] of createTexts()) writeFileSync(join(ROOT, file), text);
