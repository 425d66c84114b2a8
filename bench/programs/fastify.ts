/** A bare Fastify with the pets of a file in memory: no key, no checks, no log. */

import { readFileSync } from 'node:fs';
import fastify from 'fastify';

const [port, file = ''] = process.argv.slice(2);
const { pets } = JSON.parse(readFileSync(file, 'utf8'));

const app = fastify();
app.get('/v1/pets', async () => pets);
await app.listen({ host: '127.0.0.1', port: Number(port) });
