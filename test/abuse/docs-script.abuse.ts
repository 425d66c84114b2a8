/** Clients that ask for the script of the docs page, and read nothing of it. */

import assert from 'node:assert/strict';
import { send } from '../support/request.ts';
import { testAttack } from './attack.ts';

let path = '';

testAttack(
  'ask for the docs script and do not read it',
  500,
  (socket) => {
    socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(8));
  },
  {
    async prepare({ port }) {
      const { body } = await send(port, { path: '/docs/' });
      path = `/docs/${/js\/scalar-[0-9a-f]+\.js/.exec(body)?.[0]}`;
    },
    afterwards: async ({ port }) => assert.equal((await send(port, { path })).status, 200),
  },
);
