/** What the options of `petstore serve` change in the real program. */

import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { createTestDatabase } from '../support/postgres.ts';
import {
  assertRefused,
  type RunningService,
  readStart,
  runProgram,
  startService,
} from '../support/program.ts';
import { listen } from '../support/socket.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const cwd = createProcessFolder();

const inMemory = ['--database', 'sqlite::memory:', '--log-level', 'silent'];

describe('serve', { concurrency: 2 }, () => {
  describe('with options and variables', () => {
    const baseUrl = 'https://petstore.test/shop/v1';
    const env = { PETSTORE_RETIRE_GET_PET: 'true', PETSTORE_CORS_ORIGIN: 'https://shop.test' };
    let service: RunningService;
    let authorization: string;
    before(async () => {
      service = await startService([...inMemory, '--base-url', baseUrl], { cwd, env });
      authorization = `Bearer ${service.key}`;
    });
    after(() => service[Symbol.asyncDispose]());

    test('serve › --base-url › is where links, Location and the document lead', async () => {
      const init = {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: '{"name":"Rex","categoryId":1}',
      };
      for (const id of [1, 2]) {
        const created = await fetch(`${service.url}/v1/pets`, init);
        assert.equal(created.headers.get('location'), `${baseUrl}/pets/${id}`);
      }
      const list = await fetch(`${service.url}/v1/pets?limit=1`, { headers: { authorization } });
      assert.match(list.headers.get('link') ?? '', /^<https:\/\/petstore\.test\/shop\/v1\/pets\?/);
      const document = JSON.parse(await (await fetch(`${service.url}/openapi.json`)).text());
      assert.equal(document.servers[0].url, baseUrl);
    });

    test('serve › --retire-get-pet and --cors-origin as variables › are so', async () => {
      for (const [origin, allowed] of [
        ['https://shop.test', 'https://shop.test'],
        ['https://other.test', null],
      ] as const) {
        const answer = await fetch(`${service.url}/v1/pets/1`, {
          headers: { authorization, origin },
        });
        assert.equal(answer.status, 410);
        assert.equal(answer.headers.get('access-control-allow-origin'), allowed);
      }
    });

    test('serve › --database sqlite::memory: › leaves no file', async () => {
      assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
      assert.deepEqual(await readdir(cwd), []);
    });
  });

  const hasIpv6 = Object.values(networkInterfaces())
    .flat()
    .some((address) => address?.address === '::1');
  const skip = hasIpv6 ? false : 'this machine has no IPv6';
  test('serve › --host ::1 › prints an address with brackets that answers', { skip }, async () => {
    await using service = await startService([...inMemory, '--host', '::1'], { cwd });
    assert.match(service.url, /^http:\/\/\[::1\]:\d+$/);
    assert.equal((await fetch(`${service.url}/livez`)).status, 200);
  });

  for (const host of hasIpv6 ? ['0.0.0.0', '::'] : ['0.0.0.0']) {
    test(`serve › --host ${host} › prints addresses that answer`, async () => {
      const args = [...inMemory, '--host', host, '--log-level', 'info'];
      await using service = await startService(args, { cwd });
      assert.ok(service.output.stdout.endsWith(` http://127.0.0.1:${service.port}/v1/pets\n`));
      const link = `console at http://127.0.0.1:${service.port}/console,`;
      assert.ok(service.output.stderr.includes(link), service.output.stderr);
    });
  }

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
        `127.0.0.1:${port} is in use: choose another ${option}, or 0 for any free one`,
      );
    });
  }

  for (const [what, host, reason] of [
    ['is not of this machine', '192.0.2.1', 'is not an address of this machine'],
    ['nobody knows', 'petstore.invalid', 'is not a known host'],
  ] as const) {
    test(`serve › a host that ${what} › exits with 1 and one line`, async () => {
      const args = ['serve', '--port', '0', '--host', host, ...inMemory];
      const line = `${host}:0 ${reason}: choose another --host`;
      assertRefused(await runProgram(args, { cwd }), 1, line);
    });
  }

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
      const said = services.map((service) => readStart(service).split('\n')[1]).sort();
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
