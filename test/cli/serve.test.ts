/** What the options of `petstore serve` change in the real program. */

import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createTestDatabase } from '../support/postgres.ts';
import {
  assertRefused,
  readFacts,
  readStart,
  runProgram,
  startService,
} from '../support/program.ts';
import { listen } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const ENV_EXAMPLE = join(import.meta.dirname, '../../deploy/env.example');

const cwd = createProcessFolder();

const inMemory = ['--database', 'sqlite::memory:', '--log-level', 'silent'];

describe('serve', { concurrency: 2 }, () => {
  test('serve › options and variables › are those of the service', async () => {
    const baseUrl = 'https://petstore.test/shop/v1';
    const env = {
      ...{ PETSTORE_RETIRE_GET_PET: 'true', PETSTORE_CORS_ORIGIN: 'https://shop.test' },
      ...{ PETSTORE_RATE_LIMIT: '100', PETSTORE_RATE_LIMIT_BURST: '2000' },
    };
    await using service = await startService([...inMemory, '--base-url', baseUrl], { cwd, env });
    const document = JSON.parse(await (await fetch(`${service.url}/openapi.json`)).text());
    assert.equal(document.servers[0].url, baseUrl);
    for (const [origin, allowed] of [
      ['https://shop.test', 'https://shop.test'],
      ['https://other.test', null],
    ] as const) {
      const sent = { authorization: `Bearer ${service.key}`, origin };
      const { status, headers } = await fetch(`${service.url}/v1/pets/1`, { headers: sent });
      assert.equal(status, 410);
      assert.equal(headers.get('access-control-allow-origin'), allowed);
      assert.equal(headers.get('ratelimit-policy'), '"default";q=100;w=1;petstore-burst=2000');
    }
    // A store in memory.
    assert.deepEqual(await readdir(cwd), []);
  });

  test('serve › deploy/env.example, read by a shell › serves production', async () => {
    const within = ['sh', '-c', `set -a; . ${ENV_EXAMPLE}; exec "$0" "$@"`];
    const options = { cwd: createProcessFolder(), within };
    await using service = await startService([], options);
    assert.equal(readFacts(service).environment, 'production');
  });

  const hasIpv6 = Object.values(networkInterfaces())
    .flat()
    .some((address) => address?.address === '::1');
  for (const [host, shown, others = []] of [
    ['*', '127.0.0.1', hasIpv6 ? ['[::1]'] : []],
    ['0.0.0.0', '127.0.0.1'],
    ['::', '127.0.0.1'],
    ['::1', '[::1]'],
  ] as const) {
    const skip = host.includes(':') && !hasIpv6 && 'this machine has no IPv6';
    test(`serve › --host ${host} › prints addresses that answer`, { skip }, async () => {
      const args = [...inMemory, '--host', host, '--log-level', 'info'];
      await using service = await startService(args, { cwd });
      const url = `http://${shown}:${service.port}`;
      assert.ok(service.output.stdout.includes(` ${url}/v1/pets\n`));
      assert.ok(service.output.stdout.endsWith(` ${url}/console#key=${service.key}\n`));
      const { api, console, docs } = readFacts(service);
      const pages = { api: `${url}/v1`, console: `${url}/console`, docs: `${url}/docs` };
      assert.deepEqual({ api, console, docs }, pages);
      for (const name of [shown, ...others]) {
        assert.equal((await fetch(`http://${name}:${service.port}/livez`)).status, 200);
      }
      const warned = readStart(service).split('keys travel in the clear on the network').length - 1;
      assert.equal(warned, Number(host !== '::1'));
    });
  }

  test('serve › fewer files than its connections need › is warned about once', async () => {
    const within = ['sh', '-c', 'ulimit -n 64; exec "$0" "$@"'];
    const args = [...inMemory.slice(0, 2), '--max-connections', '100'];
    await using service = await startService(args, { cwd, within });
    assert.equal(
      readStart(service).split('\n')[0],
      'only 64 files may be open: --max-connections 100 needs 174: raise the hard limit (ulimit -Hn, LimitNOFILE)',
    );
  });

  for (const [option, engine, workers] of [
    ['--port', 'sqlite', '1'],
    ['--port', 'sqlite', '2'],
    ['--port', 'postgresql', '1'],
    ['--admin-port', 'sqlite', '1'],
    ['--admin-port', 'sqlite', '2'],
  ] as const) {
    test(`serve › a busy ${option}, on ${engine} with ${workers} of --workers › exits with 1 and one line`, async () => {
      await using place = engine === 'postgresql' ? await createTestDatabase() : undefined;
      await using other = createServer();
      const port = await listen(other);
      const database = place?.address ?? 'sqlite:busy.db';
      const args = ['serve', '--database', database, '--workers', workers];
      const variable = `PETSTORE_${option.slice(2).replace('-', '_').toUpperCase()}`;
      assertRefused(
        await runProgram([...args, '--log-level', 'silent'], {
          cwd: createProcessFolder(),
          env: { PETSTORE_PORT: '0', [variable]: String(port) },
        }),
        1,
        `port ${port} is in use: npm start -- ${option} ${port + 1} (or ${variable}=${port + 1})`,
      );
    });
  }

  const LOCAL = 'npm start -- --host 127.0.0.1 (or PETSTORE_HOST=127.0.0.1)';
  for (const [what, host, line] of [
    ['is not of this machine', '192.0.2.1', 'this machine does not have the address 192.0.2.1'],
    ['nobody knows', 'petstore.invalid', 'nobody knows the host petstore.invalid'],
  ] as const) {
    test(`serve › a host that ${what} › exits with 1 and one line`, async () => {
      const args = ['serve', '--port', '0', '--host', host, ...inMemory];
      assertRefused(await runProgram(args, { cwd }), 1, `${line}: ${LOCAL}`);
    });
  }

  const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
  test('serve › a port that the user may not have › exits with 1 and one line', {
    skip: !isRoot && 'only root can be another user',
  }, async () => {
    // In a network of its own: there no port below 1024 is free for everybody.
    const within = ['unshare', '--net', 'setpriv', '--reuid=65534', '--clear-groups'];
    assertRefused(
      await runProgram(['serve', '--host', '0.0.0.0', '--port', '80', ...inMemory], {
        cwd,
        within,
      }),
      1,
      'this user may not listen on port 80, which is below 1024: npm start -- --port 8080 (or PETSTORE_PORT=8080)',
    );
  });

  test('serve › a folder as the database › exits with 1 and one line', async () => {
    const line = `the database ${cwd} is a folder: name a file in it`;
    assertRefused(await runProgram(['serve', '--database', `sqlite:${cwd}`], { cwd }), 1, line);
  });

  for (const engine of ['sqlite', 'postgresql']) {
    test(`serve › --seed, of two services with workers at once, on ${engine} › adds the pets once`, async () => {
      await using place = engine === 'postgresql' ? await createTestDatabase() : undefined;
      const database = place?.address ?? 'sqlite:seed.db';
      const args = ['--seed', '100', '--workers', '2', '--database', database];
      const folder = createProcessFolder();
      const start = () => startService(args, { cwd: folder });
      await using stack = new AsyncDisposableStack();
      const services = await Promise.all([start(), start()]);
      for (const service of services) stack.use(service);
      const said = services.map((service) => readStart(service).split('\n')[0]).sort();
      assert.deepEqual(said, [
        '100 sample pets are added',
        'no sample pets are added: the store has pets, or had some',
      ]);
      const key = services.map((service) => service.key).join('');
      const headers = { authorization: `Bearer ${key}` };
      const answer = await fetch(`${services[0]?.url}/v1/pets?limit=100`, { headers });
      assert.equal(((await answer.json()) as unknown[]).length, 100);
      assert.equal(answer.headers.get('link'), null);
    });
  }

  test('serve › --rehearse › a request gets the failure that it asks for', async () => {
    await using service = await startService([...inMemory, '--rehearse'], { cwd });
    const headers = { authorization: `Bearer ${service.key}`, prefer: 'status=503' };
    const answer = await fetch(`${service.url}/v1/pets`, { headers });
    assert.equal(answer.status, 503);
    assert.equal(answer.headers.get('retry-after'), '1');
  });
});
