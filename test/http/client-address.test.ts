/** Which address the log has for the client of a request, with and without proxies that are trusted. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startTestApp } from '../support/app.ts';
import { send } from '../support/request.ts';

const PROXIES = ['127.0.0.1', '10.0.0.0/8', '2001:db8:1::/48', '::1'];
const service = await startTestApp({ trustProxy: PROXIES });
after(() => service[Symbol.asyncDispose]());

async function findClientOf(remoteAddress: string, forwarded?: string) {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  await service.app.inject({ url: '/livez', remoteAddress, headers });
  return service.log.at(-1)?.client;
}

for (const [what, remote, forwarded, expected] of [
  ['no field', '10.1.2.3', undefined, '10.1.2.3'],
  ['an empty field', '10.1.2.3', '', '10.1.2.3'],
  ['one address', '10.1.2.3', '192.0.2.1', '192.0.2.1'],
  ['addresses that its client made up', '127.0.0.1', '198.51.100.9, 192.0.2.1', '192.0.2.1'],
  ['a second proxy', '127.0.0.1', '198.51.100.9, 192.0.2.1, 10.9.9.9', '192.0.2.1'],
  ['a second proxy of IPv6', '10.0.0.1', '192.0.2.1,2001:db8:1:2::7', '192.0.2.1'],
  ['proxies alone', '127.0.0.1', '10.0.0.2, 10.0.0.1', '10.0.0.2'],
  ['no address behind', '127.0.0.1', '192.0.2.1, unknown', '127.0.0.1'],
  ['an address with a text', '127.0.0.1', '::1%"x', '127.0.0.1'],
  ['an address with its port', '127.0.0.1', '192.0.2.1:47110', '127.0.0.1'],
  ['IPv4 in IPv6', '::ffff:127.0.0.1', '192.0.2.1', '192.0.2.1'],
  ['an address of an untrusted proxy', '11.0.0.1', '198.51.100.9', '11.0.0.1'],
] as const) {
  test(`client › of ${remote}, with ${what} › is ${expected}`, async () => {
    assert.equal(await findClientOf(remote, forwarded), expected);
  });
}

test('client › of X-Forwarded-For, given twice › is the last address', async () => {
  const headers = { 'x-forwarded-for': ['198.51.100.9', '192.0.2.1'] };
  await send(service.port, { path: '/livez', headers });
  assert.equal(service.log.at(-1)?.client, '192.0.2.1');
});
