/** What a server, a pooler or a proxy sends that is no message of PostgreSQL: with and without TLS. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStore } from '../../src/storage/open.ts';
import type { Store } from '../../src/store.ts';
import { createCertificate, NO_OPENSSL } from '../support/certificate.ts';
import { createEmptyDatabase } from '../support/empty-database.ts';
import { PATIENT } from '../support/postgres.ts';
import { runProgram } from '../support/program.ts';
import { startProxy } from '../support/proxy.ts';
import { listen } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';
import { REX } from './contract/data.ts';

const UNAVAILABLE = {
  name: 'PetstoreError',
  code: 'unavailable',
  message: 'the database sends what is no message of PostgreSQL: see its pooler or proxy',
};
/** How many bytes the server sends to let a client in, before all else. */
const AUTHENTICATION_OK = 9;

const toMessage = (type: string, length: number, rest = '') => {
  const message = Buffer.from(`${type}....${rest}`, 'latin1');
  message.writeUInt32BE(length, 1);
  return message;
};

/** With TLS the first one is enough: only the stream that is read is another. */
const BROKEN: readonly (readonly [what: string, bytes: Buffer])[] = [
  ['a type that nobody knows', toMessage('z', 4)],
  ['a message of no length', toMessage('D', 0, '\0\0\0\0')],
  ['a row that is shorter than it says', toMessage('D', 6, '\0\x09')],
  ['a row of less than no columns', toMessage('D', 6, '\xff\xff')],
  ['an error without a code', toMessage('E', 12, 'SERROR\0\0')],
  ['a way to log in that nobody knows', toMessage('R', 8, '\0\0\0\x63')],
];

const useAll = ({ pets, keys, check }: Store) => [
  check(),
  keys.list(),
  pets.find(1n),
  pets.listAsJson({ limit: 1 }),
  pets.add(REX),
  pets.merge(ReadableStream.from([REX])),
];

const folder = createProcessFolder();

for (const mode of ['disable', 'require']) {
  test(`messages › with sslmode=${mode}, broken at a start and beside requests › end their connection with one reason, and the next connection serves`, {
    skip: mode === 'require' && NO_OPENSSL,
  }, async () => {
    await using database = await createEmptyDatabase();
    if (mode === 'require') createCertificate(folder, 'localhost');
    const read = (name: string) => readFileSync(join(folder, name));
    const certificate =
      mode === 'require' ? { cert: read('server.crt'), key: read('server.key') } : undefined;
    await using proxy = await startProxy(database.address, 0, certificate);
    const open = () => openStore(`${proxy.address}?sslmode=${mode}`, { create: true, ...PATIENT });
    for (const [what, bytes] of mode === 'require' ? BROKEN.slice(0, 1) : BROKEN) {
      proxy.change = (chunk) => Buffer.concat([chunk.subarray(0, AUTHENTICATION_OK), bytes]);
      await assert.rejects(open(), UNAVAILABLE, what);
      proxy.change = (chunk) => chunk;
      await using store = await open();
      await Promise.all(useAll(store));
      proxy.change = () => bytes;
      await Promise.all(useAll(store).map((used) => assert.rejects(used, UNAVAILABLE, what)));
      proxy.change = (chunk) => chunk;
      await Promise.all(useAll(store));
      assert.equal(store.countConnections?.().used, 0);
    }
  });
}

test('messages › an error with characters that a terminal acts on › is printed with a space in the place of each', async () => {
  const fields = 'SERROR\0CXX000\0Mred \x1b[31m\nsecond\r\0\0';
  await using server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .resume()
      .end(toMessage('E', fields.length + 4, fields));
  });
  const address = `postgres://rex@127.0.0.1:${await listen(server)}/pets?sslmode=disable`;
  const found = await runProgram(['pets', 'list', '--database', address], { cwd: folder });
  assert.match(found.stderr, /^petstore: error: red {2}\[31m second/);
  assert.doesNotMatch(found.stderr, /[^\P{Cc}\n]/u);
  assert.equal(found.status, 1);
});
