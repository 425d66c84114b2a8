/** The operations of the document: each answers the request of its examples, on PostgreSQL with the rights of a service. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { send as sendByClient } from '../../client/send.ts';
import { CONSTANT_HEADERS } from '../../src/http/headers.ts';
import { getPet } from '../../src/http/operations/get-pet.ts';
import type { Operation as Defined } from '../../src/http/operations/operation.ts';
import { OPERATIONS } from '../../src/http/operations/operations.ts';
import { startTestApp } from '../support/app.ts';
import { send } from '../support/request.ts';

const { paths, components } = JSON.parse(
  await readFile(new URL('../../openapi.json', import.meta.url), 'utf8'),
);
const operations = Object.entries<Record<string, Operation>>(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);

interface Operation {
  readonly parameters?: readonly Readonly<Record<string, string>>[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { example: unknown }>> };
  readonly responses: Readonly<Record<string, { readonly headers: object }>>;
}

/** What the document does not have. */
const ALWAYS = [
  ...['Connection', 'Content-Length', 'Content-Type', 'Date', 'Keep-Alive'],
  ...Object.keys(CONSTANT_HEADERS),
];

for (const { path, method, parameters = [], requestBody, responses } of operations) {
  test(`${method} ${path} › with its examples and first values › is answered with the success`, async () => {
    await using app = await startTestApp();
    await app.store.pets.add({ name: 'Rex', categoryId: 1n });
    const values = { path: {}, query: {}, header: {} };
    for (const { name, in: place, example, schema } of parameters.map(Object)) {
      const [first] = components.schemas[schema.$ref?.split('/').at(-1)]?.enum ?? ['<string>'];
      Object(values)[place][name] = String(example ?? schema.default ?? first);
    }
    const filled = path.replace(/\{(\w+)\}/g, (_all, name) => Object(values.path)[name]);
    const [content] = Object.values(requestBody?.content ?? {});
    const answer = await send(app.port, {
      method: method.toUpperCase(),
      path: `/v1${filled}?${new URLSearchParams(values.query)}`,
      headers: { ...app.authorization, ...values.header },
      ...(content && { body: JSON.stringify(content.example) }),
    });
    const [success] = Object.keys(responses);
    assert.equal(String(answer.status), success, JSON.stringify(app.log));
    const known = [...Object.keys(Object(responses[success ?? '']).headers), ...ALWAYS];
    const names = known.map((name) => name.toLowerCase());
    const others = Object.keys(answer.headers).filter((name) => !names.includes(name));
    assert.deepEqual(others, [], 'openapi.json lacks these headers of the success');
  });
}

test('an operation without a schema of its success › is answered 204, without a body and its headers', async () => {
  const success = { status: 204, description: 'It is removed.' };
  (OPERATIONS as Defined[]).push({ ...getPet, method: 'POST', success, handle: async () => '' });
  await using app = await startTestApp();
  const headers = app.authorization;
  const answer = await send(app.port, { method: 'POST', path: '/v1/pets/1', headers });
  const { 'content-type': type, 'content-length': length } = answer.headers;
  assert.deepEqual([answer.status, answer.body, type, length], [204, '', undefined, undefined]);
  const client = { baseUrl: `http://127.0.0.1:${app.port}/v1`, apiKey: app.key };
  const sent = { 'Idempotency-Key': '1' };
  const call = { method: 'POST', path: '/pets/1', headers: sent, options: {} } as const;
  assert.equal((await sendByClient(client, call)).body, null);
  const served = JSON.parse((await send(app.port, { path: '/openapi.json' })).body);
  assert.equal(served.paths['/pets/{petId}'].post.responses[204].content, undefined);
});
