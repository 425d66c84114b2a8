/**
 * Writes what a release has beside its packages: the list of what is inside the service (an SBOM of
 * CycloneDX), and the checksums of all. `npm run build` runs it behind `npm pack`.
 */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './run.ts';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const files = [`petstore-${version}.tgz`, `petstore-client-${version}.tgz`];

const npm = execFileSync('npm', ['--version'], { encoding: 'utf8' }).trim();
if (Number.parseInt(npm, 10) < 10) {
  process.stderr.write(`npm ${npm} makes no SBOM: build a release by npm 10 or newer\n`);
} else {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  const cwd = join(ROOT, '.cache/package');
  const sbom = execFileSync('npm', [...args, '--package-lock-only'], { cwd });
  files.push(`petstore-${version}.cdx.json`);
  writeFileSync(join(ROOT, `petstore-${version}.cdx.json`), sbom);
}
const sums = files.map((name) => {
  const digest = createHash('sha256').update(readFileSync(join(ROOT, name)));
  return `${digest.digest('hex')}  ${name}\n`;
});
writeFileSync(join(ROOT, 'SHA256SUMS'), sums.join(''));
process.stdout.write(`${files.slice(2).join('\n')}\nSHA256SUMS\n`);
