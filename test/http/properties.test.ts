/** Properties of every pet on its way from a socket to the disk and back, and of every text that is not a pet. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { invalidNewPet, newPet, toJson } from '../arbitraries.ts';
import { startTestApp } from '../support/app.ts';
import { assertError, assertJson, send } from '../support/request.ts';
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

test('POST /v1/pets › any pet with one wrong field › answers 400 with the field and adds nothing', async () => {
  const before = await service.store.pets.count();
  await fc.assert(
    fc.asyncProperty(invalidNewPet, async ({ json, field }) => {
      assertError(
        await post(json),
        'bad_request',
        new RegExp(`^${field} (?:is required|must be )`),
      );
    }),
  );
  assert.equal(await service.store.pets.count(), before);
});
