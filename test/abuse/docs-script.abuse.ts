/** Clients that ask for the script of the docs page, and read nothing of it. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { send } from '../support/request.ts';
import { assertBears, startTarget } from './attack.ts';

const PAGE_BYTES = 4096;
const CONNECTIONS = 500;

const service = await startTarget();
after(() => service[Symbol.asyncDispose]());
const { port } = service;

let path = '';
before(async () => {
  const { body } = await send(port, { path: '/docs/' });
  path = `/docs/${/js\/scalar-[\d.]+\.js/.exec(body)?.[0]}`;
});

/** What the kernel keeps for all TCP sockets of this machine. */
function readKernelMib(): number {
  const [, pages] = /^TCP: .* mem (\d+)$/m.exec(readFileSync('/proc/net/sockstat', 'utf8')) ?? [];
  return (Number(pages) * PAGE_BYTES) / 1024 ** 2;
}

// Of 32 clients 1.1 MB or 4.4 MB, which the kernel rounds up, and what else the machine does meanwhile.
for (const [what, coding, kernelMibMax] of [
  ['compressed', 'br', 100],
  ['as it is', 'identity', 300],
] as const) {
  test(`abuse › ${CONNECTIONS} clients that ask for the docs script, ${what}, and do not read it › are borne`, async (t) => {
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: ${coding}\r\n\r\n`;
    const before = readKernelMib();
    let kernelMib = 0;
    const timer = setInterval(() => {
      kernelMib = Math.max(kernelMib, readKernelMib() - before);
    }, 50);
    t.after(() => clearInterval(timer));
    const figures = await assertBears(service, CONNECTIONS, (socket) => {
      socket.pause();
      socket.write(request);
      // Most of them are refused, and try again until one of the oldest is reset.
      const again = setInterval(() => socket.write(request), 500);
      socket.once('close', () => clearInterval(again));
    });
    t.diagnostic(`${figures}, ${kernelMib.toFixed()} MiB in the kernel`);
    assert.ok(kernelMib < kernelMibMax, `${kernelMib} MiB`);
    // The kernel lets go of it with the connections.
    await sleep(100);
    assert.ok(readKernelMib() - before < kernelMibMax / 5);
  });
}
