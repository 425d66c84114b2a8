/**
 * How far a list of 20 is from the limit: this service beside bare node:http sending the same
 * bytes, each pinned to one core, the load on another, in turns. Needs Linux and wrk.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load, median, print, ROUNDS, start } from './measure.ts';

const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
const main = new URL('../src/cli/main.ts', import.meta.url).pathname;

const petstore = await start(folder, main, 'serve', '--port', '0');
const key = /petstore_stag_\w+/.exec(petstore.stdout)?.[0] ?? '';
const authorization = `Bearer ${key}`;
for (let n = 0; n < 20; n += 1) {
  await fetch(`${petstore.url}/v1/pets`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: `{"name":"Animal ${n}","categoryId":${n},"status":"available"}`,
  });
}
const answer = await fetch(`${petstore.url}/v1/pets`, { headers: { authorization } });
const body = await answer.text();
if (JSON.parse(body).length !== 20) throw new Error(`not a list of 20: ${body}`);
const file = join(folder, 'answer.json');
const headers = Object.fromEntries(
  [...answer.headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name)),
);
writeFileSync(file, JSON.stringify({ headers, body }));
const limit = await start(folder, new URL('limit.ts', import.meta.url).pathname, file);

const rates = { limit: [] as number[], petstore: [] as number[] };
const ask = ({ url }: { url: string }) => load(`${url}/v1/pets`, key);
ask(limit);
ask(petstore);
for (let round = 0; round < ROUNDS; round += 1) {
  rates.limit.push(ask(limit));
  rates.petstore.push(ask(petstore));
}
print(rates);
console.log(`ratio ${(median(rates.petstore) / median(rates.limit)).toFixed(2)}`);
petstore.stop();
limit.stop();
rmSync(folder, { recursive: true });
