/** The baseline on PostgreSQL: queries as the service has them, through the bare driver, without HTTP. */

import pg from 'pg';

const CLIENTS = 32;
const CONNECTIONS = 10;

const [address = '', kind = '', seconds, pets] = process.argv.slice(2);

/** The same as one query for each request; the service batches them (src/storage/postgres/pet-queries.ts). */
const QUERIES: Readonly<Record<string, string>> = {
  get: 'select id, name, category_id, status from pets where id = $1',
  list: 'select id, name, category_id, status from pets where id > $1 order by id limit $2 + 0',
};

const pool = new pg.Pool({ connectionString: address, max: CONNECTIONS });
const end = performance.now() + Number(seconds) * 1_000;
let count = 0;

async function ask(client: number): Promise<void> {
  for (let turn = client; performance.now() < end; turn += CLIENTS) {
    const id = 1 + (turn % Number(pets));
    const values = kind === 'get' ? [id] : [id % (Number(pets) - 20), 21];
    const query = { name: kind, text: QUERIES[kind] ?? '', values, rowMode: 'array' } as const;
    const { rows } = await pool.query(query);
    if (rows.length === 0) throw new Error('no row');
    count += 1;
  }
}

const start = performance.now();
const before = process.cpuUsage();
await Promise.all(Array.from({ length: CLIENTS }, (_, client) => ask(client)));
const { user, system } = process.cpuUsage(before);
console.log(
  JSON.stringify({
    'CPU µs/request': (user + system) / count,
    'requests/s': count / ((performance.now() - start) / 1_000),
  }),
);
await pool.end();
