/** Many clients of one key that send requests without a pause. */

import { test } from 'node:test';
import { send } from '../support/request.ts';
import { assertBears, startTarget, type Target, TEN_KEYS_P99_MS_MAX } from './attack.ts';

const CONNECTIONS = 500;
/** Requests of each that wait for their answers. */
const AT_WORK = 4;
const KEYS = 10;
/** A full page of a list. */
const PETS = 100;
/** More than what the clients beside the attack send. */
const PER_SECOND = '200';

const BODY = JSON.stringify({ name: 'Rex', categoryId: 1 });
const REQUESTS = {
  list: ['GET /v1/pets?limit=100 HTTP/1.1', '\r\n'],
  create: ['POST /v1/pets HTTP/1.1', `Content-Length: ${BODY.length}\r\n\r\n${BODY}`],
};

async function addPets({ port, key }: Target): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const sent = { method: 'POST', path: '/v1/pets', headers, body: BODY };
  await Promise.all(Array.from({ length: PETS }, () => send(port, sent)));
}

for (const [limit, args] of [
  ['', []],
  [' above their rate limit', ['--rate-limit', PER_SECOND]],
] as const) {
  for (const [what, [line, rest]] of Object.entries(REQUESTS)) {
    test(`abuse › ${CONNECTIONS} clients of one key that ${what} without a pause${limit} › are borne`, async (t) => {
      await using service = await startTarget(args);
      await addPets(service);
      const part = `${line}\r\nHost: x\r\nAuthorization: Bearer ${service.key}\r\n${rest}`;
      const figures = await assertBears(service, CONNECTIONS, (socket) => {
        socket.setEncoding('latin1').on('data', (text: string) => {
          socket.write(part.repeat(text.split('HTTP/1.1 ').length - 1));
        });
        socket.once('connect', () => socket.write(part.repeat(AT_WORK)));
      });
      t.diagnostic(figures);
    });
  }
}

test('abuse › 1,500 clients without a key that wait for each answer › are borne', async (t) => {
  await using service = await startTarget();
  const request = 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n';
  const figures = await assertBears(
    service,
    1_500,
    (socket) => {
      socket.on('data', () => socket.write(request));
      socket.once('connect', () => socket.write(request));
    },
    TEN_KEYS_P99_MS_MAX,
  );
  t.diagnostic(figures);
});

test(`abuse › ${CONNECTIONS} clients of ${KEYS} keys that list without a pause › are borne`, async (t) => {
  await using service = await startTarget();
  await addPets(service);
  const keys = await Promise.all(Array.from({ length: KEYS }, () => service.createKey()));
  let opened = 0;
  const figures = await assertBears(
    service,
    CONNECTIONS,
    (socket) => {
      opened += 1;
      const [line, rest] = REQUESTS.list;
      const key = keys[opened % KEYS];
      const part = `${line}\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${rest}`;
      socket.setEncoding('latin1').on('data', (text: string) => {
        socket.write(part.repeat(text.split('HTTP/1.1 ').length - 1));
      });
      socket.once('connect', () => socket.write(part.repeat(AT_WORK)));
    },
    TEN_KEYS_P99_MS_MAX,
  );
  t.diagnostic(figures);
});
