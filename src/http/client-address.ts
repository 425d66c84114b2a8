/** The address of a client: of its connection, or as a trusted proxy names it. */

import { isIP, type Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** An address in an X-Forwarded-For; some proxies add a port. */
const WITH_PORT = /^(?:\[([\da-f:.]+)\]|([\d.]+))(?::\d{1,5})?$/i;

/** The address of a request's client. Fastify's option `trustProxy` says which proxies are believed. */
export function findClient({ ips, socket }: FastifyRequest): string {
  // `ips` ends with the first text that is no trusted proxy, even if the text is no address.
  const address = ips?.map(withoutPort).findLast((text) => isIP(text) !== 0);
  return address === undefined ? toAddress(socket) : toPlain(address);
}

/** The address at the other end of a connection; `unknown` once it is closed. */
export function toAddress({ remoteAddress = 'unknown' }: Socket): string {
  return toPlain(remoteAddress);
}

function withoutPort(text = ''): string {
  const [, six, four] = WITH_PORT.exec(text) ?? [];
  return six ?? four ?? text;
}

/** The IPv4 address for ::ffff:127.0.0.1, as a socket of IPv6 names it. */
function toPlain(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
