/** The address of a client: that of its connection, or the one that a trusted proxy names. */

import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';

/** An address in an X-Forwarded-For, to which some proxies add a port. */
const WITH_PORT = /^(?:\[([\da-f:.]+)\]|([\d.]+))(?::\d{1,5})?$/i;

/**
 * What gives the address of the client of a request.
 *
 * @param trusted the addresses, and networks as 10.0.0.0/8, of the proxies whose X-Forwarded-For is believed.
 */
export function createFindClient(trusted: readonly string[]): (request: IncomingMessage) => string {
  const proxies = new BlockList();
  for (const entry of trusted) {
    const [address = '', bits] = entry.split('/');
    if (bits === undefined) proxies.addAddress(address, toFamily(address));
    else proxies.addSubnet(address, Number(bits), toFamily(address));
  }
  const isProxy = (address: string) => proxies.check(address, toFamily(address));

  return ({ socket, headers }) => {
    let client = toAddress(socket);
    if (trusted.length === 0) return client;
    // Each proxy adds at the end the address that it saw; what is left of that, its client may have made up.
    const named = String(headers['x-forwarded-for'] ?? '').split(',');
    while (isProxy(client)) {
      const text = named.pop()?.trim() ?? '';
      const [, six, four] = WITH_PORT.exec(text) ?? [];
      const address = six ?? four ?? text;
      if (isIP(address) === 0) break;
      client = toPlain(address);
    }
    return client;
  };
}

/** The address at the other end of a connection; `unknown` once it is closed. */
export function toAddress({ remoteAddress = 'unknown' }: Socket): string {
  return toPlain(remoteAddress);
}

/** An IPv4 address that a socket of IPv6 names as ::ffff:127.0.0.1. */
function toPlain(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}

function toFamily(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}
