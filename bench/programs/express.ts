/** A bare Express with the pets of a file in memory: no key, no checks, no log. */

import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';

type Handler = (request: Request, response: Response) => void;

interface Application {
  get(path: string, handler: Handler): void;
  post(path: string, parser: unknown, handler: Handler): void;
  listen(port: number, host: string): Server;
}

interface Request {
  readonly params: { readonly id: string };
  readonly body: object;
}

interface Response {
  status(status: number): this;
  json(value: unknown): void;
}

const [port, file = '', peers = ''] = process.argv.slice(2);
const { pets } = JSON.parse(readFileSync(file, 'utf8'));

const express: { (): Application; json(): unknown } = createRequire(`${peers}/`)('express');
const app = express();
app.get('/v1/pets', (_request, response) => response.json(pets));
app.get('/v1/pets/:id', ({ params }, response) => response.json(pets[Number(params.id) - 1]));
app.post('/v1/pets', express.json(), ({ body }, response) => {
  const pet = { id: pets.length + 1, ...body };
  pets.push(pet);
  response.status(201).json(pet);
});
app.listen(Number(port), '127.0.0.1');
