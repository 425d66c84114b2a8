/** The baseline: bare node:http that sends one given answer for each method, whatever the path. */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Answer } from '../../test/support/socket.ts';

const [port, file = ''] = process.argv.slice(2);
const NO_ANSWER: Answer = { status: 404, headers: {}, body: '' };
const answers: Record<string, Answer> = JSON.parse(readFileSync(file, 'utf8'));

createServer((request, response) => {
  const { status, headers, body } = answers[request.method ?? ''] ?? NO_ANSWER;
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
