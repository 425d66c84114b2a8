/** A bare Fastify with the pets of a file in memory: no key, no checks, no log. */

import { readFileSync } from 'node:fs';
import fastify from 'fastify';

const [port, file = ''] = process.argv.slice(2);
const { pets } = JSON.parse(readFileSync(file, 'utf8'));

const app = fastify();
app.get('/v1/pets', async () => pets);
app.get<{ Params: { id: string } }>(
  '/v1/pets/:id',
  async ({ params }) => pets[Number(params.id) - 1],
);
app.post('/v1/pets', async ({ body }, reply) => {
  const pet = Object.assign({ id: pets.length + 1 }, body);
  pets.push(pet);
  return reply.code(201).send(pet);
});
await app.listen({ host: '127.0.0.1', port: Number(port) });
