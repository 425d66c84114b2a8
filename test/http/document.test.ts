/** The OpenAPI document: it is the committed one, agrees with the interface, and accepts what the service accepts. */

import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { ERRORS } from '../../src/error.ts';
import { LIMITS } from '../../src/http/limits.ts';
import { OPERATIONS } from '../../src/http/operations/operations.ts';
import { NAME_CODE_POINTS_MAX } from '../../src/pet.ts';
import { invalidNewPet, newPet, toJson } from '../arbitraries.ts';
import { startTestApp } from '../support/app.ts';
import { runCommand } from '../support/command.ts';
import { assertJson, type Code, STATUS_OF, send } from '../support/request.ts';
import { exchange } from '../support/socket.ts';

interface DocumentOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  readonly 'x-deprecated-sunset'?: string;
  readonly security?: unknown;
  readonly parameters?: readonly Record<string, unknown>[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, DocumentResponse | { readonly $ref: string }>>;
}

interface DocumentResponse {
  readonly description: string;
  readonly content: {
    readonly 'application/json': {
      readonly schema: object;
      readonly examples?: Readonly<Record<string, { value: { code: Code; status: number } }>>;
    };
  };
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly security: unknown;
  readonly tags: readonly { name: string }[];
  readonly servers: readonly object[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<
      Record<string, { properties?: object; required?: string[]; enum?: string[] }>
    >;
    readonly responses: Readonly<Record<string, DocumentResponse>>;
    readonly securitySchemes: Readonly<Record<string, { type: string; scheme: string }>>;
  };
}

const routes: string[] = [];
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance };
  fastify.addHook('onRoute', ({ method, url }) => {
    // Fastify adds HEAD itself, and what answers 405 has several methods.
    if (url.startsWith('/v1/') && method !== 'HEAD' && !Array.isArray(method)) {
      routes.push(`${method.toLowerCase()} ${url.replace(/:(\w+)/, '{$1}').slice('/v1'.length)}`);
    }
  });
});
const service = await startTestApp();
after(() => service[Symbol.asyncDispose]());
const { port, authorization: headers } = service;

const { body: served } = await send(port, {
  path: '/openapi.json',
  headers: { host: '127.0.0.1:8080' },
});
const document: Document = JSON.parse(served);
const { schemas } = document.components;

function getOperation(method: string, path: string): DocumentOperation {
  const operation = document.paths[path]?.[method];
  assert.ok(operation !== undefined, `${method} ${path} is documented`);
  return operation;
}

/** The responses of an operation by their status, those of the components too. */
function getResponses(method: string, path: string): Readonly<Record<string, DocumentResponse>> {
  const responses = Object.entries(getOperation(method, path).responses).map(
    ([status, response]) => {
      if (!('$ref' in response)) return [status, response] as const;
      const name = response.$ref.slice('#/components/responses/'.length);
      const shared = document.components.responses[name];
      assert.ok(shared !== undefined, response.$ref);
      return [status, shared] as const;
    },
  );
  return Object.fromEntries(responses);
}

test('openapi.json › the committed one › is what serve without options serves', async () => {
  const committed = await readFile(new URL('../../openapi.json', import.meta.url), 'utf8');
  assert.deepEqual(JSON.parse(committed), document);
  const { status, stdout } = await runCommand(['openapi'], { cwd: import.meta.dirname });
  assert.equal(status, 0);
  assert.ok(stdout === committed, 'petstore openapi prints the same');
});

test('petstore openapi › with the address of a service › prints what that service serves', async () => {
  const args = ['--environment', 'production', '--base-url', 'https://pets.example/v1'];
  const { stdout } = await runCommand(['openapi', ...args], { cwd: import.meta.dirname });
  const servers = [{ url: 'https://pets.example/v1', description: 'Production' }];
  assert.deepEqual(JSON.parse(stdout), { ...document, servers });
});

test('document › its head › is that of the interface', () => {
  assert.match(document.openapi, /^3\.1\./);
  assert.equal(document.info.version, '1.0.0');
  assert.deepEqual(
    document.tags.map(({ name }) => name),
    ['animals'],
  );
  assert.deepEqual(document.security, [{ bearerAuth: [] }]);
  const { type, scheme } = document.components.securitySchemes.bearerAuth ?? {};
  assert.deepEqual({ type, scheme }, { type: 'http', scheme: 'bearer' });
});

test('document › its paths › are the three operations, as they are served, and no more', () => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  assert.deepEqual(operations.toSorted(), ['get /pets', 'get /pets/{petId}', 'post /pets']);
  assert.deepEqual(operations.toSorted(), [...new Set(routes)].toSorted());
});

for (const [method, path, operationId, statuses, schema, codes] of [
  ['get', '/pets', 'listPets', ['200', '401', 'default'], 'Pets', ['bad_request', 'unauthorized']],
  [
    'post',
    '/pets',
    'createPet',
    ['201', '400', '401', 'default'],
    'Pet',
    [
      'bad_request',
      'unauthorized',
      'forbidden',
      'gone',
      'payload_too_large',
      'unsupported_media_type',
      'idempotency_key_reused',
    ],
  ],
  [
    'get',
    '/pets/{petId}',
    'getPet',
    ['200', '401', '404', 'default'],
    'Pet',
    ['unauthorized', 'not_found', 'gone'],
  ],
] as const) {
  test(`document › ${method} ${path} › is ${operationId}, of the tag animals, with the key`, () => {
    const operation = getOperation(method, path);
    assert.equal(operation.operationId, operationId);
    assert.deepEqual(operation.tags, ['animals']);
    assert.equal(operation.security, undefined, 'the security of the document holds');
  });

  test(`document › the statuses of ${operationId} › are those of the interface and default`, () => {
    const responses = getResponses(method, path);
    assert.deepEqual(Object.keys(responses), statuses);
    for (const [status, { content }] of Object.entries(responses)) {
      const name = status.startsWith('2') ? schema : 'Error';
      const $ref = `#/components/schemas/${name}`;
      assert.deepEqual(content['application/json'].schema, { $ref }, status);
    }
  });

  test(`document › the errors of ${operationId} › have an example for each code, under its status`, () => {
    const responses = getResponses(method, path);
    const documented = Object.entries(responses).flatMap(([declared, { content }]) =>
      Object.values(content['application/json'].examples ?? {})
        .filter(() => !declared.startsWith('2'))
        .map(({ value }) => {
          assert.equal(value.status, STATUS_OF[value.code]);
          if (declared !== 'default') assert.equal(String(value.status), declared);
          return value.code;
        }),
    );
    const always = [
      'request_timeout',
      'rate_limited',
      'headers_too_large',
      'internal_error',
      'unavailable',
    ];
    assert.deepEqual(documented.toSorted(), [...codes, ...always].toSorted());
  });
}

test('document › the responses that the interface names › are shared by the operations', () => {
  const { responses } = document.components;
  assert.deepEqual(Object.keys(responses).toSorted(), ['BadRequest', 'NotFound', 'Unauthorized']);
  for (const [method, path, status, name] of [
    ['get', '/pets', 401, 'Unauthorized'],
    ['post', '/pets', 400, 'BadRequest'],
    ['post', '/pets', 401, 'Unauthorized'],
    ['get', '/pets/{petId}', 401, 'Unauthorized'],
    ['get', '/pets/{petId}', 404, 'NotFound'],
  ] as const) {
    const $ref = `#/components/responses/${name}`;
    assert.deepEqual(getOperation(method, path).responses[status], { $ref });
  }
  for (const { errors } of OPERATIONS) {
    for (const { code, description } of errors) {
      const texts = Object.values(responses).filter(
        ({ content }) => code in (content['application/json'].examples ?? {}),
      );
      if (description !== undefined)
        assert.deepEqual(
          texts.map((it) => it.description),
          [description],
        );
    }
  }
});

test('document › the codes of the errors › are all published, each with one status', () => {
  assert.deepEqual(Object.keys(ERRORS).toSorted(), Object.keys(STATUS_OF).toSorted());
});

test('the message of an error › that has a limit in it › has the limit that holds', () => {
  const kib = `${LIMITS.BODY_BYTES_MAX / 1024} KiB`;
  assert.equal(ERRORS.payload_too_large.message, `the body must be at most ${kib}`);
  const head = `${LIMITS.HEADER_BYTES_MAX / 1024} KiB, in ${LIMITS.HEADER_FIELDS_MAX} fields`;
  assert.ok(ERRORS.headers_too_large.message.endsWith(` ${head}`));
  const times = `${LIMITS.REQUEST_SECONDS_MAX} s, its headers within ${LIMITS.HEADER_SECONDS_MAX} s`;
  assert.ok(ERRORS.request_timeout.message.endsWith(` ${times}`));
});

test('document › only getPet › is deprecated, with its sunset', () => {
  const get = getOperation('get', '/pets/{petId}');
  assert.equal(get.deprecated, true);
  assert.equal(get['x-deprecated-sunset'], '2030-12-05');
  for (const method of ['get', 'post']) {
    assert.equal(getOperation(method, '/pets').deprecated, undefined);
    assert.equal(getOperation(method, '/pets')['x-deprecated-sunset'], undefined);
  }
});

test('document › listPets › has the parameters of the interface, and the cursor as beta', () => {
  const parameters = getOperation('get', '/pets').parameters ?? [];
  const rows = parameters.map(({ name, in: place, required }) => [name, place, required ?? false]);
  assert.deepEqual(rows, [
    ['limit', 'query', false],
    ['status', 'query', false],
    ['cursor', 'query', false],
  ]);
  const text = parameters.map((parameter) => JSON.stringify(parameter));
  assert.match(text[0] ?? '', /"type":"integer"/);
  assert.match(text[0] ?? '', /"minimum":1,"maximum":100,"default":20/);
  assert.deepEqual(Object(parameters[1]).schema, { $ref: '#/components/schemas/PetStatus' });
  assert.equal(Object(parameters[1]).description, 'Filters by availability status.');
  assert.equal(Object(parameters[2])['x-stability'], 'beta');
});

test('document › createPet › has the Idempotency-Key as beta, and optional', () => {
  const parameters = getOperation('post', '/pets').parameters ?? [];
  assert.equal(parameters.length, 1);
  const { name, in: place, required, ...rest } = parameters[0] ?? {};
  assert.deepEqual([name, place, required ?? false], ['Idempotency-Key', 'header', false]);
  assert.equal(Object(rest)['x-stability'], 'beta');
  assert.match(JSON.stringify(rest), /"minLength":1,"maxLength":255/);
});

test('document › getPet › has the petId of the interface, and createPet a body that is required', () => {
  const [petId] = getOperation('get', '/pets/{petId}').parameters ?? [];
  const { name, in: place, required } = petId ?? {};
  assert.deepEqual([name, place, required], ['petId', 'path', true]);
  assert.match(JSON.stringify(petId), /"type":"integer","format":"int64"/);
  assert.match(served, /"minimum":1,"maximum":9223372036854775807\}/, 'no double has rounded it');
  const { required: isRequired, content } = Object(getOperation('post', '/pets').requestBody);
  assert.equal(isRequired, true);
  const { schema } = content['application/json'];
  assert.deepEqual(schema, { $ref: '#/components/schemas/NewPet' });
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

for (const [what, options, sent, server] of [
  [
    '--base-url in production',
    { environment: 'production', baseUrl: 'https://pets.example/shop/v1' },
    { host: 'other.example' },
    { url: 'https://pets.example/shop/v1', description: 'Production' },
  ],
  [
    'only a Host',
    { environment: 'staging' },
    { host: 'Pets.example:8080' },
    { url: 'http://pets.example:8080/v1', description: 'Staging' },
  ],
  [
    'the Host of an IPv6 address',
    { environment: 'production' },
    { host: '[::1]:80' },
    { url: 'http://[::1]/v1', description: 'Production' },
  ],
  [
    'a trusted proxy with TLS',
    { trustProxy: ['127.0.0.1'] },
    {
      host: 'pets.example',
      'x-forwarded-proto': 'http, https',
      'x-forwarded-host': 'evil.example',
    },
    { url: 'https://pets.example/v1', description: 'Staging' },
  ],
  [
    'a trusted proxy that passes on any scheme',
    { trustProxy: ['127.0.0.1'] },
    { host: 'pets.example', 'x-forwarded-proto': 'javascript' },
    { url: 'http://pets.example/v1', description: 'Staging' },
  ],
  [
    'a proxy that is not trusted',
    { trustProxy: ['10.0.0.1'] },
    { host: 'pets.example', 'x-forwarded-proto': 'https' },
    { url: 'http://pets.example/v1', description: 'Staging' },
  ],
] as const) {
  test(`document › its server with ${what} › is the absolute address, and no other one`, async () => {
    await using app = await startTestApp(options);
    const answer = await send(app.port, { path: '/openapi.json', headers: sent });
    assertJson(answer, 200);
    assert.deepEqual(JSON.parse(answer.body), { ...document, servers: [server] });
  });
}

test('document › its server with one Host after another › is of the Host of each request', async () => {
  for (const host of ['one.example', 'two.example', 'one.example']) {
    const answer = await send(port, { path: '/openapi.json', headers: { host } });
    assert.equal(JSON.parse(answer.body).servers[0].url, `http://${host}/v1`);
  }
});

test('document › its server with a Host that is no plain address › is relative', async () => {
  const hosts = ["a'b", 'a;b', '$(id)', '$&', 'a%20b', '1.2.3.4.5', 'a:99999', '[::1::]'];
  for (const host of hosts) {
    const answer = await send(port, { path: '/openapi.json', headers: { host } });
    assertJson(answer, 200);
    const servers = [{ url: '/v1', description: 'Staging' }];
    assert.deepEqual(JSON.parse(answer.body).servers, servers, host);
  }
  const answer = await exchange(port, 'GET /openapi.json HTTP/1.0\r\n\r\n');
  assert.match(answer, /"servers":\[\{"url":"\/v1","description":"Staging"\}\]/);
});

/** Every object of the document. */
function* findParts(part: unknown): Generator<Record<string, unknown>> {
  if (typeof part !== 'object' || part === null) return;
  yield part as Record<string, unknown>;
  for (const member of Object.values(part)) yield* findParts(member);
}

test('document › what is beta › says so in its description', () => {
  const beta = [...findParts(document)].filter((part) => part['x-stability'] === 'beta');
  assert.ok(beta.length > 0);
  for (const { description } of beta) assert.match(String(description), /^Beta\. [A-Z]/);
});

test('document › what the interface does not have › is beta, and what it has is not', () => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const responses = operations.flatMap(({ responses }) => Object.entries(responses));
  const named = [...findParts(document)].flatMap(({ headers, links }) =>
    Object.entries({ ...Object(headers), ...Object(links) }),
  );
  const parameters = operations.flatMap(({ parameters = [] }) =>
    parameters.map((parameter) => [String(parameter.name), parameter] as const),
  );
  const ours = ['default', 'cursor', 'Idempotency-Key', ...named.map(([name]) => name)];
  for (const [name, part] of [...responses, ...named, ...parameters]) {
    const expected = ours.includes(name) ? 'beta' : undefined;
    assert.equal(Object(part)['x-stability'], expected, name);
  }
  for (const part of [...operations, ...Object.values(schemas)]) {
    assert.ok(!('x-stability' in part));
  }
  assert.ok(!('maxItems' in Object(schemas.Pets)), 'the interface bounds a page by limit alone');
});

test('document › the header texts › have a maxLength', () => {
  const headers = [...findParts(document)].flatMap(({ headers }) =>
    Object.entries(Object(headers)),
  );
  assert.ok(headers.length > 0);
  for (const [name, header] of headers) {
    const { type, maxLength } = Object(header).schema;
    assert.ok(type !== 'string' || maxLength > 0, name);
  }
});

test('document › requests of its examples and first values › are answered with the success', async () => {
  await using app = await startTestApp();
  for (const [method, path, status] of [
    ['post', '/pets', 201],
    ['get', '/pets', 200],
    ['get', '/pets/{petId}', 200],
  ] as const) {
    const { parameters = [], requestBody } = getOperation(method, path);
    const values = parameters.map((parameter) => {
      const { name, in: place, example, schema } = Object(parameter);
      const value = example ?? schema.default ?? schemas[schema.$ref?.split('/').at(-1)]?.enum?.[0];
      return { name, place, value: value ?? '<string>' };
    });
    const inPlace = (wanted: string) => values.filter(({ place }) => place === wanted);
    const query = new URLSearchParams(inPlace('query').map(({ name, value }) => [name, value]));
    const answer = await send(app.port, {
      method: method.toUpperCase(),
      path: `/v1${path.replace(/\{(\w+)\}/, () => inPlace('path')[0]?.value)}?${query}`,
      headers: {
        ...app.authorization,
        ...Object.fromEntries(inPlace('header').map(({ name, value }) => [name, value])),
      },
      ...(method === 'post' && {
        body: JSON.stringify(Object(requestBody).content['application/json'].example),
      }),
    });
    assert.equal(answer.status, status, answer.body);
  }
});

const ajv = new Ajv2020({ strict: false, formats: { int64: true } });
ajv.addSchema(document, 'document');

/** Whether the schema of a component allows a value. */
function isDescribed(name: string, value: unknown): boolean {
  return ajv.validate(`document#/components/schemas/${name}`, value);
}

/**
 * Pets, nearly pets, and anything. JSON Schema cannot say: that an integer is an int64 and
 * checked on its digits (so numbers here are those that a double holds, within 2^53), that half
 * a surrogate pair is no character (so names here are well-formed), and that U+0085 is white space
 * (so none is blank but for that).
 */
const json = fc
  .oneof(
    newPet.map(toJson),
    invalidNewPet.map((invalid) => invalid.json),
    fc.json(),
    fc
      .record(
        {
          name: fc.oneof(fc.string({ maxLength: NAME_CODE_POINTS_MAX + 5 }), fc.jsonValue()),
          categoryId: fc.oneof(fc.integer(), fc.double(), fc.jsonValue()),
          status: fc.oneof(fc.constantFrom('available', 'sold', 'Sold'), fc.jsonValue()),
          other: fc.jsonValue(),
        },
        { requiredKeys: [] },
      )
      .map((value) => JSON.stringify(value)),
  )
  .filter((text) => {
    const value = JSON.parse(text);
    const { name, categoryId } = Object(value);
    const isExact =
      typeof categoryId !== 'number' || Math.abs(categoryId) <= Number.MAX_SAFE_INTEGER;
    const isClear =
      typeof name !== 'string' || (name.isWellFormed() && !/^[\s\u0085]*\u0085\s*$/.test(name));
    return isExact && isClear;
  });

test('document › any JSON › is a NewPet by the document exactly when the service adds it', async () => {
  await fc.assert(
    fc.asyncProperty(json, async (body) => {
      const answer = await send(port, { method: 'POST', path: '/v1/pets', headers, body });
      const expected = isDescribed('NewPet', JSON.parse(body)) ? 201 : 400;
      assert.equal(answer.status, expected, `${body}: ${answer.body}`);
      const answered = JSON.parse(answer.body);
      assert.ok(isDescribed(expected === 201 ? 'Pet' : 'Error', answered), answer.body);
    }),
    { numRuns: 500, endOnFailure: true },
  );
  const list = await send(port, { path: '/v1/pets?limit=100', headers });
  assert.ok(isDescribed('Pets', JSON.parse(list.body)));
});
