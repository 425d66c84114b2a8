/** Which address the log has for the client of a request, with and without proxies that are trusted. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fastify, { type FastifyRequest } from 'fastify';
import { findClient } from '../../src/http/client-address.ts';
import { startTestApp } from '../support/app.ts';
import { send } from '../support/request.ts';

const PROXIES = ['127.0.0.1', '10.0.0.0/8', '2001:db8:1::/48', '::1'];

async function findClientOf(remoteAddress: string, forwarded?: string) {
  await using app = fastify({ trustProxy: PROXIES });
  app.get('/', (request) => findClient(request));
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return (await app.inject({ url: '/', remoteAddress, headers })).body;
}

for (const [what, remote, forwarded, expected] of [
  ['no field', '10.1.2.3', undefined, '10.1.2.3'],
  ['an empty field', '10.1.2.3', '', '10.1.2.3'],
  ['one address', '10.1.2.3', '192.0.2.1', '192.0.2.1'],
  ['one address of IPv6', '::1', '2001:db8:2::5', '2001:db8:2::5'],
  ['addresses that its client made up', '127.0.0.1', '198.51.100.9, 192.0.2.1', '192.0.2.1'],
  ['a second proxy', '127.0.0.1', '198.51.100.9, 192.0.2.1, 10.9.9.9', '192.0.2.1'],
  ['a second proxy of IPv6', '10.0.0.1', '192.0.2.1,2001:db8:1:2::7', '192.0.2.1'],
  ['proxies alone', '127.0.0.1', '10.0.0.2, 10.0.0.1', '10.0.0.2'],
  ['no address behind', '127.0.0.1', '192.0.2.1, unknown', '127.0.0.1'],
  ['no address behind a proxy', '127.0.0.1', '"><script>, 10.0.0.1', '10.0.0.1'],
  ['an address with its port', '127.0.0.1', '192.0.2.1:47110', '192.0.2.1'],
  ['an address of IPv6 with its port', '127.0.0.1', '[2001:db8:2::5]:47110', '2001:db8:2::5'],
  ['IPv4 in IPv6', '::ffff:127.0.0.1', '::ffff:192.0.2.1', '192.0.2.1'],
  ['IPv4 in hexadecimal', '127.0.0.1', '::ffff:c000:201', '::ffff:c000:201'],
  ['an address of an untrusted proxy', '11.0.0.1', '198.51.100.9', '11.0.0.1'],
] as const) {
  test(`client › of ${remote}, with ${what} › is ${expected}`, async () => {
    assert.equal(await findClientOf(remote, forwarded), expected);
  });
}

test('client › of a connection that is closed › is unknown', () => {
  for (const ips of [undefined, [undefined]]) {
    assert.equal(findClient({ ips, socket: {} } as unknown as FastifyRequest), 'unknown');
  }
});

test('log › X-Forwarded-For, given twice › is believed of a trusted proxy alone', async () => {
  const headers = { 'x-forwarded-for': ['198.51.100.9', '192.0.2.1'] };
  for (const [trustProxy, client] of [
    [['127.0.0.0/8'], '192.0.2.1'],
    [['10.0.0.0/8'], '127.0.0.1'],
  ] as const) {
    await using app = await startTestApp({ trustProxy });
    await send(app.port, { path: '/livez', headers });
    assert.deepEqual(
      app.log.map((line) => line.client),
      [client],
    );
  }
});
