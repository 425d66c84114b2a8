/**
 * What the service on PostgreSQL costs beside its own queries through the bare driver, each pinned
 * to one core, the database and the load on another, in turns. Needs Linux, wrk and PostgreSQL.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster } from '../test/support/postgres-cluster.ts';
import { load, median, print, ROUNDS, run, SECONDS, start, stayOnLoadCore } from './measure.ts';

const PETS = 1_000;

stayOnLoadCore();
const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
const main = new URL('../src/cli/main.ts', import.meta.url).pathname;
const driver = new URL('driver.ts', import.meta.url).pathname;

await using cluster = await startCluster({ durable: true });
const database = cluster.url();
const animals = Array.from({ length: PETS }, (_, n) => `Animal ${n},${n},available\n`);
writeFileSync(join(folder, 'animals.csv'), `name,categoryId,status\n${animals.join('')}`);
run(main, 'pets', 'import', join(folder, 'animals.csv'), '--database', database);

const petstore = await start(folder, main, 'serve', '--port', '0', '--database', database);
const key = /petstore_stag_\w+/.exec(petstore.stdout)?.[0] ?? '';
// Each request asks for the next page, or the next animal.
const lists = writeScript('lists', await walk());
const gets = writeScript(
  'gets',
  Array.from({ length: PETS }, (_, n) => `/v1/pets/${n + 1}`),
);

/** The paths of all pages. */
async function walk(): Promise<string[]> {
  const paths: string[] = [];
  let path: string | undefined = '/v1/pets';
  while (path !== undefined) {
    paths.push(path);
    const headers = { authorization: `Bearer ${key}` };
    const answer: Response = await fetch(petstore.url + path, { headers });
    if ((await answer.text()).length < 20) throw new Error(`${path} is no page`);
    path = /^<(.+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
  }
  return paths;
}

/** What wrk asks for, in turns. */
function writeScript(name: string, paths: readonly string[]): string {
  const file = join(folder, `${name}.lua`);
  const list = paths.map((path) => JSON.stringify(path));
  writeFileSync(
    file,
    `local paths = {${list}}
    local at = 0
    request = function()
      at = at % #paths + 1
      return wrk.format("GET", paths[at])
    end`,
  );
  return file;
}

for (const [kind, ask] of [
  ['list', () => load(petstore.url, key, lists)],
  ['get', () => load(petstore.url, key, gets)],
] as const) {
  const askDriver = () => Number(run(driver, database, kind, String(SECONDS), String(PETS)));
  const rates = { [`driver ${kind}`]: [] as number[], [`petstore ${kind}`]: [] as number[] };
  const [bare = [], service = []] = Object.values(rates);
  askDriver();
  ask();
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(askDriver());
    service.push(ask());
  }
  print(rates);
  console.log(`ratio ${(median(service) / median(bare)).toFixed(2)}`);
}
petstore.stop();
rmSync(folder, { recursive: true });
