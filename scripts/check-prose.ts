/** The end of `npm run check`: names each fault in the prose of the Markdown files; of CHANGELOG only the next release. */

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFaults } from './prose.ts';
import { ROOT } from './run.ts';

for (const file of globSync(['*.md', 'client/*.md', '{docs,src}/**/*.md'], { cwd: ROOT }).sort()) {
  const [text = ''] = readFileSync(join(ROOT, file), 'utf8').split(/^## \d/m);
  for (const { line, reason } of findFaults(text)) {
    process.stderr.write(`${file}:${line}: ${reason}\n`);
    process.exitCode = 1;
  }
}
