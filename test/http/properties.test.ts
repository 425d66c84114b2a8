/** Every pet on its way from a socket to the disk and back. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { newPet, toJson } from '../arbitraries.ts';
import { startTestApp } from '../support/app.ts';
import { assertJson, send } from '../support/request.ts';
import type { Answer } from '../support/socket.ts';

const service = await startTestApp();
after(() => service[Symbol.asyncDispose]());
const { port, authorization: headers } = service;

function post(body: string | Buffer): Promise<Answer> {
  return send(port, { method: 'POST', path: '/v1/pets', headers, body });
}

test('POST /v1/pets › any pet › is the same, to the last digit, in its answer, by its Location and in the list', async () => {
  let last = 0n;
  await fc.assert(
    fc.asyncProperty(newPet, async (pet) => {
      const created = await post(toJson(pet));
      assertJson(created, 201);
      const id = BigInt(/^\/v1\/pets\/(\d+)$/.exec(created.headers.location ?? '')?.[1] ?? 0);
      assert.equal(created.body, `{"id":${id},${toJson(pet).slice(1)}`);
      assert.ok(id > last, `${id} comes after ${last}`);
      last = id;
      const found = await send(port, { path: created.headers.location ?? '', headers });
      assert.equal(found.body, created.body);
      const all = [];
      for (let path = '/v1/pets?limit=100'; path !== ''; ) {
        const page = await send(port, { path, headers });
        all.push(page.body.slice(1, -1));
        path = /^<(.+)>/.exec(page.headers.link ?? '')?.[1] ?? '';
      }
      assert.ok(all.at(-1)?.endsWith(created.body));
    }),
  );
});
