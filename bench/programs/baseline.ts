/** The baseline: bare node:http that sends one given answer, whatever the request. */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Answer } from '../../test/support/socket.ts';

const [port, file = ''] = process.argv.slice(2);
const { status, headers, body }: Answer = JSON.parse(readFileSync(file, 'utf8'));

createServer((request, response) => {
  const answer = () => {
    response.writeHead(status, headers);
    response.end(body);
  };
  if (request.method !== 'POST') {
    answer();
    return;
  }
  request.resume();
  request.on('end', answer);
}).listen(Number(port), '127.0.0.1');
