/** The address of a client: that of its connection, or the one that a trusted proxy names. */

import { isIP, type Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** An address in an X-Forwarded-For, to which some proxies add a port. */
const WITH_PORT = /^(?:\[([\da-f:.]+)\]|([\d.]+))(?::\d{1,5})?$/i;

/** The address of the client of a request. The option `trustProxy` of Fastify says which proxies are believed. */
export function findClient({ ips, socket }: FastifyRequest): string {
  // Fastify ends the list at the first text that is no trusted proxy, whether or not it is an address.
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

/** An IPv4 address that a socket of IPv6 names as ::ffff:127.0.0.1. */
function toPlain(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
