/** The OpenAPI document: it is the committed one, and agrees with the interface. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { ERRORS } from '../../src/error.ts';
import { startSharedApp, startTestApp } from '../support/app.ts';
import { runCommand } from '../support/command.ts';
import { assertJson, type Code, STATUS_OF, send } from '../support/request.ts';
import { exchange } from '../support/socket.ts';

const service = await startSharedApp({ trustProxy: ['127.0.0.1'] });
const { port } = service;

const { body: served } = await send(port, {
  path: '/openapi.json',
  headers: { host: '127.0.0.1:8080' },
});
const document = JSON.parse(served);
const { schemas, responses: shared } = document.components;

test('openapi.json › the committed one › is what serve without options serves', async () => {
  const committed = await readFile(new URL('../../openapi.json', import.meta.url), 'utf8');
  assert.deepEqual(JSON.parse(committed), document);
  const { stdout } = await runCommand(['openapi'], { cwd: import.meta.dirname });
  assert.ok(stdout === committed, 'petstore openapi prints the same');
});

test('document › with --environment and --base-url › has that server, also as petstore openapi prints it', async () => {
  const [environment, baseUrl] = ['production', 'https://pets.example/shop/v1'] as const;
  const servers = [{ url: baseUrl, description: 'Production' }];
  await using app = await startTestApp({ environment, baseUrl });
  const answer = await send(app.port, { path: '/openapi.json', headers: { host: 'x.example' } });
  assert.deepEqual(JSON.parse(answer.body), { ...document, servers });
  const args = ['openapi', '--environment', environment, '--base-url', baseUrl];
  const { stdout } = await runCommand(args, { cwd: import.meta.dirname });
  assert.deepEqual(JSON.parse(stdout), { ...document, servers });
});

test('document › its head › is that of the interface', () => {
  const { openapi, info, tags, security, components } = document;
  const { type, scheme } = components.securitySchemes.bearerAuth;
  const names = tags.map(({ name }: { name: string }) => name);
  assert.deepEqual([openapi, info.version, ...names], ['3.0.3', '1.0.0', 'animals']);
  assert.deepEqual([security, type, scheme], [[{ bearerAuth: [] }], 'http', 'bearer']);
});

/** What every operation may answer beside its own errors. */
const ALWAYS: readonly Code[] = [
  ...(['unauthorized', 'request_timeout', 'rate_limited', 'headers_too_large'] as const),
  ...(['internal_error', 'unavailable'] as const),
];

const CREATE_ERRORS = [
  ...(['bad_request', 'forbidden', 'gone', 'payload_too_large'] as const),
  ...(['unsupported_media_type', 'idempotency_key_reused'] as const),
];

/** What each operation answers beside its declared errors; the interface has no names for them. */
const RETRIED = { 429: 'TooManyRequests', 503: 'ServiceUnavailable' };

/** The operations of the interface: their parameters, their declared errors, and all codes of errors. */
const OPERATIONS = {
  'get /pets': {
    operation: { operationId: 'listPets' },
    parameters: ['limit', 'status', 'cursor'].map((name) => [name, 'query', false]),
    success: ['200', 'Pets'],
    declared: { 401: 'Unauthorized' },
    codes: ['bad_request'],
  },
  'post /pets': {
    operation: { operationId: 'createPet' },
    parameters: [['Idempotency-Key', 'header', false]],
    success: ['201', 'Pet'],
    declared: { 400: 'BadRequest', 401: 'Unauthorized' },
    codes: CREATE_ERRORS,
  },
  'get /pets/{petId}': {
    operation: { operationId: 'getPet', deprecated: true, 'x-deprecated-sunset': '2030-12-05' },
    parameters: [['petId', 'path', true]],
    success: ['200', 'Pet'],
    declared: { 401: 'Unauthorized', 404: 'NotFound' },
    codes: ['not_found', 'gone'],
  },
} as const;

interface DocumentOperation {
  readonly parameters?: readonly Record<string, unknown>[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>;
}

const operations = Object.entries<Record<string, DocumentOperation>>(document.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation] as const),
);
const getOperation = (name: keyof typeof OPERATIONS) =>
  Object.fromEntries(operations)[name] as DocumentOperation;

test('document › its operations › are those of the interface, and no more', () => {
  assert.deepEqual(operations.map(([name]) => name).sort(), Object.keys(OPERATIONS).sort());
  const names = ['BadRequest', 'NotFound', 'Unauthorized', ...Object.values(RETRIED)];
  assert.deepEqual(Object.keys(shared).toSorted(), names.toSorted());
});

for (const [name, expected] of Object.entries(OPERATIONS)) {
  const { responses, parameters = [], ...members } = getOperation(name as 'get /pets');
  const { summary, description, requestBody, ...operation } = Object(members);

  test(`document › ${name} › has the name, parameters and answers of the interface, and an example of each error`, () => {
    // Without a security of its own, that of the document holds.
    assert.deepEqual(operation, { tags: ['animals'], ...expected.operation });
    const found = parameters.map(({ name, in: place, required }) => [name, place, required]);
    assert.deepEqual(found, expected.parameters);
    const [success, schema] = expected.success;
    const named = { ...expected.declared, ...RETRIED };
    assert.deepEqual(
      Object.keys(responses).toSorted(),
      [success, ...Object.keys(named), 'default'].toSorted(),
    );
    const documented: string[] = [];
    for (const [status, response] of Object.entries(responses)) {
      const declared = Object(named)[status];
      assert.equal(response.$ref, declared && `#/components/responses/${declared}`);
      const { content } = declared ? shared[declared] : Object(response);
      const { schema: described, examples = {} } = content['application/json'];
      const $ref = `#/components/schemas/${status === success ? schema : 'Error'}`;
      assert.deepEqual(described, { $ref }, status);
      if (status === success) continue;
      for (const { value } of Object.values(examples).map(Object)) {
        assert.equal(value.status, STATUS_OF[value.code as Code]);
        assert.ok(!declared || String(value.status) === status, value.code);
        documented.push(value.code);
      }
    }
    assert.deepEqual(documented.toSorted(), [...expected.codes, ...ALWAYS].toSorted());
  });
}

test('errors › their codes › are those that are published, each with its one status', () => {
  const statuses = Object.entries(ERRORS).map(([code, { status }]) => [code, status]);
  assert.deepEqual(Object.fromEntries(statuses), STATUS_OF);
});

test('document › its parameters and the body of a create › have the bounds of the interface', () => {
  const [limit, status] = getOperation('get /pets').parameters ?? [];
  const { description, ...bounds } = Object(limit).schema;
  assert.deepEqual(bounds, { type: 'integer', minimum: 1, maximum: 100, default: 20 });
  assert.deepEqual(Object(status).schema, { $ref: '#/components/schemas/PetStatus' });
  assert.equal(status?.description, 'Filters by availability status.');
  const [petId] = getOperation('get /pets/{petId}').parameters ?? [];
  assert.match(JSON.stringify(petId), /"type":"integer","format":"int64"/);
  const { parameters = [], requestBody } = getOperation('post /pets');
  assert.match(JSON.stringify(parameters), /"minLength":1,"maxLength":255/);
  const { required, content } = Object(requestBody);
  assert.equal(required, true);
  assert.deepEqual(content['application/json'].schema, { $ref: '#/components/schemas/NewPet' });
});

test('document › its numbers › are exact in a tool that is written in JavaScript', () => {
  const numbers: number[] = [];
  JSON.parse(served, (_name, value) => {
    if (typeof value === 'number') numbers.push(value);
  });
  assert.ok(numbers.includes(100));
  const rounded = numbers.filter((number) => Math.abs(number) > Number.MAX_SAFE_INTEGER);
  assert.deepEqual(rounded, []);
});

for (const [name, members, required] of [
  ['NewPet', ['name', 'categoryId', 'status'], ['name', 'categoryId']],
  ['Pet', ['id', 'name', 'categoryId', 'status'], ['id', 'name', 'categoryId']],
  ['Error', ['code', 'message', 'status'], ['code', 'message', 'status']],
] as const) {
  test(`document › the schema ${name} › has the members of the interface`, () => {
    assert.deepEqual(Object.keys(schemas[name]?.properties ?? {}), members);
    assert.deepEqual(schemas[name]?.required, required);
  });
}

const forwarded = (scheme: string) => ({
  ...{ host: 'pets.example', 'x-forwarded-host': 'evil.example' },
  'x-forwarded-proto': scheme,
});

for (const [what, headers, url, localAddress = '127.0.0.1'] of [
  ['only a Host', { host: 'Pets.example:8080' }, 'http://pets.example:8080/v1'],
  ['the Host of an IPv6 address', { host: '[::1]:80' }, 'http://[::1]/v1'],
  ['a trusted proxy', forwarded('http, https'), 'https://pets.example/v1'],
  ['a wrong scheme of a trusted proxy', forwarded('javascript'), 'http://pets.example/v1'],
  ['an untrusted proxy', forwarded('https'), 'http://pets.example/v1', '127.0.0.2'],
  ...["a'b", '$(id)', 'a%20b', '1.2.3.4.5', 'a:99999'].map(
    (host) => [`the Host ${host}`, { host }, '/v1'] as const,
  ),
] as const) {
  test(`document › its server with ${what} › is ${url}, and no other one`, async () => {
    const answer = await send(port, { path: '/openapi.json', headers, localAddress });
    assertJson(answer, 200);
    const servers = [{ url, description: 'Staging' }];
    assert.deepEqual(JSON.parse(answer.body), { ...document, servers });
  });
}

test('document › its server without a Host › is relative', async () => {
  const answer = await exchange(port, 'GET /openapi.json HTTP/1.0\r\n\r\n');
  assert.match(answer, /"servers":\[\{"url":"\/v1","description":"Staging"\}\]/);
});

/** Every object of the document. */
function* findParts(part: unknown): Generator<Record<string, unknown>> {
  if (typeof part !== 'object' || part === null) return;
  yield part as Record<string, unknown>;
  for (const member of Object.values(part)) yield* findParts(member);
}

test('document › what the interface does not have › is beta, and what it has is not', () => {
  const described = operations.map(([, operation]) => operation);
  const named = [...findParts(document)].flatMap(({ headers, links }) =>
    Object.entries({ ...Object(headers), ...Object(links) }),
  );
  const others = described.flatMap(({ responses, parameters = [] }) => [
    ...Object.entries(responses).filter(([, { $ref }]) => $ref === undefined),
    ...parameters.map((parameter) => [String(parameter.name), parameter] as const),
  ]);
  const added = [...Object.values(RETRIED), 'default', 'cursor', 'Idempotency-Key'];
  const ours = new Set([...added, ...named.map(([name]) => name)]);
  for (const [name, part] of [...named, ...others, ...Object.entries(shared)]) {
    assert.equal(Object(part)['x-stability'], ours.has(name) ? 'beta' : undefined, name);
  }
  for (const part of [...described, ...Object.values(schemas)]) {
    assert.ok(!('x-stability' in Object(part)));
  }
  assert.equal(schemas.Pets.maxItems, 100);
});
