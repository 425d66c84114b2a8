/** What the options of `petstore serve` change in the real program. */

import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { runBeside } from '../storage/contract/engines.ts';
import { runCommand } from '../support/command.ts';
import { getAdmin } from '../support/metrics.ts';
import { assertRefused, readStart, runProgram, startService } from '../support/program.ts';
import { getFreePort, listen } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const cwd = createProcessFolder();

const inMemory = ['--database', 'sqlite::memory:'];

test('serve › options and variables, and few files › are those of the service', async () => {
  const baseUrl = 'https://petstore.test/shop/v1';
  const env = {
    ...{ PETSTORE_RETIRE_GET_PET: 'true', PETSTORE_CORS_ORIGIN: 'https://shop.test' },
    ...{ PETSTORE_RATE_LIMIT: '100', PETSTORE_RATE_LIMIT_BURST: '2000', PETSTORE_SEED: '7' },
  };
  const args = [...inMemory, '--rehearse', '--max-connections', '100', '--base-url', baseUrl];
  const within = ['sh', '-c', 'ulimit -n 64; exec "$0" "$@"'];
  await using service = await startService(args, { cwd, env, within });
  const [added, few, ...others] = readStart(service).split('\n');
  assert.equal(added, '7 sample pets are added');
  assert.equal(
    few,
    'only 64 files may be open: --max-connections 100 needs 174: raise the hard limit (ulimit -Hn, LimitNOFILE)',
  );
  assert.match(others[0] ?? '', / listens on /);
  const document = JSON.parse(await (await fetch(`${service.url}/openapi.json`)).text());
  assert.equal(document.servers[0].url, baseUrl);
  const authorization = `Bearer ${service.key}`;
  const sent = { authorization, origin: 'https://shop.test' };
  const { status, headers: got } = await fetch(`${service.url}/v1/pets/1`, { headers: sent });
  assert.equal(status, 410);
  assert.equal(got.get('access-control-allow-origin'), 'https://shop.test');
  assert.equal(got.get('ratelimit-policy'), '"default";q=100;w=1;petstore-burst=2000');
  const headers = { authorization, prefer: 'status=503' };
  assert.equal((await fetch(`${service.url}/v1/pets`, { headers })).status, 503);
  // A store in memory.
  assert.deepEqual(await readdir(cwd), []);
});

test('serve › an admin port without its host, beside --host * › is open to this machine alone', {
  skip: process.platform !== 'linux' && 'only Linux has 127.0.0.2 without being told',
}, async () => {
  const args = [...inMemory, '--host', '*', '--admin-port', '0'];
  await using service = await startService(args, { cwd });
  const askElsewhere = (port: number | string) => fetch(`http://127.0.0.2:${port}/livez`);
  assert.equal((await askElsewhere(service.port)).status, 200);
  await assert.rejects(askElsewhere(new URL(getAdmin(service)).port), TypeError);
});

test('serve › a wrong address, a wrong environment, a file that may come › exits with 2, which systemd leaves, or with 1', async () => {
  const cwd = createProcessFolder();
  const production = 'sqlite:production.db';
  const create = `keys create --name ci --environment production --database ${production}`;
  await runCommand(create.split(' '), { cwd });
  for (const [expected, database, line] of [
    [2, 'postgres://127.0.0.1:1/pets', /names no user/],
    [2, production, /is of production, not of staging/],
    [1, 'postgres://rex@127.0.0.1:1/pets?sslrootcert=/no', /must be PEM files/],
  ] as const) {
    const args = ['serve', '--port', '0', '--database', database];
    const env = { USER: '', USERNAME: '' };
    const { status, stderr } = await runCommand(args, { cwd, env });
    assert.match(stderr, line);
    assert.equal(status, expected, database);
  }
});

test('serve › the first key cannot be stored, with an admin port › exits with 1', async () => {
  const database = `sqlite:${createProcessFolder()}/refused.db`;
  const add = 'pets add --name Rex --category-id 1 --database'.split(' ');
  assert.equal((await runCommand([...add, database], { cwd })).status, 0);
  const refuse = "begin select raise(abort, 'no'); end";
  await runBeside(database, `create trigger refuse before insert on api_keys ${refuse}`);
  const serve = 'serve --port 0 --admin-port 0 --log-level silent --database'.split(' ');
  assert.equal((await runCommand([...serve, database], { cwd })).status, 1);
});

const PORT = 'port BUSY is in use: npm start -- --port NEXT (or PETSTORE_PORT=NEXT)';
const ADMIN = 'port BUSY is in use: npm start -- --admin-port NEXT (or PETSTORE_ADMIN_PORT=NEXT)';
const LOCAL = 'npm start -- --host 127.0.0.1 (or PETSTORE_HOST=127.0.0.1)';
// In a network of its own: there no port below 1024 is free for everybody.
const asNobody = ['unshare', '--net', 'setpriv', '--reuid=65534', '--clear-groups'];
for (const [args, line] of [
  ['--port BUSY', PORT],
  ['--port BUSY --workers 2', PORT],
  ['--port 0 --admin-port BUSY', ADMIN],
  // Only the admin listener finds that its port is the port of the workers, which log that they stop.
  [
    '--port OWN --admin-port OWN --workers 2 --log-level silent',
    'port OWN is in use: npm start -- --admin-port AFTER (or PETSTORE_ADMIN_PORT=AFTER)',
  ],
  ['--host 192.0.2.1', `this machine does not have the address 192.0.2.1: ${LOCAL}`],
  ['--port 0 --host petstore.invalid', `nobody knows the host petstore.invalid: ${LOCAL}`],
  [
    '--database sqlite::memory: --host 0.0.0.0 --port 80',
    'this user may not listen on port 80, which is below 1024: npm start -- --port 8080 (or PETSTORE_PORT=8080)',
  ],
] as const) {
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
  const skip = args.endsWith(' 80') && !isRoot && 'only root can be another user';
  test(`serve ${args} › is busy or not there › exits with 1 and one line`, { skip }, async () => {
    await using other = createServer();
    const port = await listen(other);
    const own = await getFreePort();
    const fill = (text: string) =>
      text
        .replaceAll('BUSY', `${port}`)
        .replaceAll('NEXT', `${port + 1}`)
        .replaceAll('OWN', `${own}`)
        .replaceAll('AFTER', `${own + 1}`);
    const within = args.endsWith(' 80') ? asNobody : [];
    const options = { cwd: createProcessFolder(), within };
    const all = `serve ${fill(args)}`.split(' ');
    // Workers, and another user, need a process.
    const run = within.length > 0 || args.includes('--workers') ? runProgram : runCommand;
    assertRefused(await run(all, options), 1, fill(line));
  });
}
