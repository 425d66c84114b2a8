/** The version of this program, from package.json. */

import { readFileSync } from 'node:fs';

const MANIFEST = new URL('../../package.json', import.meta.url);

export const { version: VERSION }: { version: string } = JSON.parse(readFileSync(MANIFEST, 'utf8'));
