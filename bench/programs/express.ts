/** A bare Express with the pets of a file in memory: no key, no checks, no log. */

import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';

interface Application {
  get(path: string, handler: (request: unknown, response: Response) => void): void;
  listen(port: number, host: string): Server;
}

interface Response {
  json(value: unknown): void;
}

const [port, file = '', peers = ''] = process.argv.slice(2);
const { pets } = JSON.parse(readFileSync(file, 'utf8'));

const express: () => Application = createRequire(`${peers}/`)('express');
const app = express();
app.get('/v1/pets', (_request, response) => response.json(pets));
app.listen(Number(port), '127.0.0.1');
