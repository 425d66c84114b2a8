/**
 * A client of the petstore in TypeScript, with its client, a package that each release of the service has,
 * for Node 24 or newer: npm install ./petstore-client-2.0.0.tgz, save this as client.mts, then
 * KEY=… node client.mts http://127.0.0.1:8080/v1
 *
 * Its ids are bigint, exact over int64; it follows Link, and sends a request again, a create with its
 * Idempotency-Key, when an answer is lost, and when Retry-After says.
 */

import { PetstoreClient, PetstoreClientError } from 'petstore-client';

const [baseUrl = ''] = process.argv.slice(2);
const { KEY: apiKey = '' } = process.env;
if (baseUrl === '' || apiKey === '') {
  console.error('usage: KEY=… node client.mts http://127.0.0.1:8080/v1');
  process.exit(2);
}
const client = new PetstoreClient({ baseUrl, apiKey, retries: 9 });

const idempotencyKey = crypto.randomUUID();
const rex = { name: 'Rex', categoryId: 9223372036854775807n };
const added = await client.create(rex, { idempotencyKey });
console.log(`added ${added.id}, category ${added.categoryId}`);
const again = await client.create(rex, { idempotencyKey });
console.log(`sent again: ${again.id}`);

for await (const { id, name } of client.list({ limit: 100 })) console.log(`${id} ${name}`);

try {
  await client.list({ limit: 0 }).next();
} catch (error) {
  if (!(error instanceof PetstoreClientError)) throw error;
  console.log(`${error.status} ${error.code}: ${error.message}`);
}
