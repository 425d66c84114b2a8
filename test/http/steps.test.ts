/** The steps of a request: each kind takes its own, in the order of the lines of `src/http/app.ts`. */

import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { TokenBuckets } from '../../src/http/hooks/rate-limit.ts';
import { addKey, startSharedApp } from '../support/app.ts';
import { exchange, parseAnswer } from '../support/socket.ts';
import { until } from '../support/until.ts';

type Hook = (...args: unknown[]) => unknown;

/** The steps that the last request has taken. */
const taken: string[] = [];
/** The hooks of the last application, in the order in which they were added. */
const lines: string[] = [];

function watch(step: Hook, name = step.name): Hook {
  const take: Hook = function (this: unknown, ...args) {
    taken.push(name);
    return step.apply(this, args);
  };
  // Fastify looks at the number of the parameters.
  return Object.defineProperty(take, 'length', { value: step.length });
}

subscribe('fastify.initialization', (message) => {
  const { fastify: app } = message as { fastify: FastifyInstance };
  const { addHook, setErrorHandler } = app;
  lines.length = 0;
  app.addHook = function (this: unknown, phase: string, hook: Hook) {
    const name = hook.name || phase;
    lines.push(name);
    return Reflect.apply(addHook, this, [phase, watch(hook, name)]);
  } as typeof addHook;
  app.setErrorHandler = ((hook: Hook) => {
    lines.push(hook.name);
    return Reflect.apply(setErrorHandler, app, [watch(hook)]);
  }) as typeof setErrorHandler;
  Reflect.apply(addHook, app, [
    'onRoute',
    (route: RouteOptions) => {
      for (const phase of ['onRequest', 'preValidation', 'handler'] as const) {
        const steps = [route[phase] ?? []].flat() as Hook[];
        const watched = steps.map((step) => watch(step, phase === 'handler' ? phase : step.name));
        Object.assign(route, { [phase]: phase === 'handler' ? watched[0] : watched });
      }
    },
  ]);
  for (const event of ['connection', 'checkContinue', 'request', 'upgrade', 'clientError']) {
    app.server.prependListener(event, () => taken.push(event));
  }
  app.server.prependListener('request', (_request, response: ServerResponse) =>
    response.once('finish', () => taken.push('the last byte')),
  );
});

const service = await startSharedApp({ rehearse: true, rateLimiter: new TokenBuckets(1_000) });
const { app, store, port } = service;
const readOnly = await addKey(store, { environment: 'staging', isReadOnly: true });
await store.pets.add({ name: 'Rex', categoryId: 1n });

const HEAD = 'connection request startRequest cors rejectAmbiguousFraming';
const OPEN = `${HEAD} answerPreflight`;
const V1 = `${OPEN} authenticate limitRate refuseUnknownPath`;
const CREATE = `${V1} requireWritable requireJson`;
const BODY = 'rehearse preValidation';
const TURN = 'preHandler authenticate handler';
const END = 'waitForTurn finishHead loseAnswer sendTogether the last byte';
const GROUPS: Readonly<Record<string, string>> = {
  ...{ HEAD, OPEN, V1, CREATE, BODY, TURN, END, REFUSED: `answerError ${END}` },
  PAGE_END: END.replace('loseAnswer ', ''),
};
const KEY = `Authorization: Bearer ${service.key}`;
const READ_ONLY = `Authorization: Bearer ${readOnly}`;
const PREFLIGHT = ['Origin: https://shop.test', 'Access-Control-Request-Method: GET'];
const PET = '{"name":"Rex","categoryId":1}';

/** The target, the status, the steps, the header fields, and the body. */
const KINDS: readonly [string, number, string, fields?: readonly string[], body?: string][] = [
  ['GET /v1/pets', 200, 'V1 rehearse TURN END'],
  ['HEAD /v1/pets', 200, 'V1 rehearse TURN END'],
  ['GET /v1/pets/1', 200, 'V1 tellDeprecation rehearse TURN END'],
  ['GET /v1/pets/9', 404, 'V1 tellDeprecation rehearse TURN REFUSED'],
  ['POST /v1/pets', 201, 'CREATE BODY TURN END', [KEY], PET],
  ['POST /v1/pets', 201, 'CREATE BODY TURN END', [KEY, 'Idempotency-Key: a'], PET],
  ['POST /v1/pets', 201, 'CREATE BODY TURN END', [KEY, 'Idempotency-Key: a'], PET],
  ['POST /v1/pets', 400, 'CREATE BODY REFUSED', [KEY], '{}'],
  ['POST /v1/pets', 413, 'CREATE REFUSED', [KEY], ' '.repeat(70_000)],
  ['POST /v1/pets', 415, 'CREATE REFUSED', [KEY, 'Content-Type: text/csv'], PET],
  ['POST /v1/pets', 403, 'V1 requireWritable REFUSED', [READ_ONLY], PET],
  ['GET /v1/pets', 503, 'V1 rehearse REFUSED', [KEY, 'Prefer: status=503']],
  ['PUT /v1/pets', 405, 'V1 refuseMethod REFUSED'],
  ['OPTIONS /v1/pets', 204, 'V1 refuseMethod END'],
  ['OPTIONS /v1/pets', 204, 'OPEN END', PREFLIGHT],
  ['OPTIONS /v1/pets', 400, 'HEAD REFUSED', [...PREFLIGHT, 'Host: y']],
  ['GET /v1/nothing', 404, 'V1 REFUSED'],
  ['GET /v1/pets', 401, 'OPEN authenticate REFUSED', []],
  ['GET /v1/pets', 400, 'HEAD REFUSED', ['Host: y']],
  ['GET /nothing', 404, 'OPEN refuseUnknownPath answerError PAGE_END'],
  ['GET /livez', 200, 'OPEN refuseUnknownPath preHandler handler PAGE_END'],
  ['GET /livez x', 400, 'connection clientError'],
  ['DESCRIBE /v1/pets RTSP/1.1', 405, 'connection upgrade'],
];

for (const [line, status, steps, fields = [KEY], body = ''] of KINDS) {
  test(`${line} › ${status}, after ${steps} › takes these steps, in the order of the lines`, async () => {
    taken.length = 0;
    const first = line.endsWith('/1.1') ? line : `${line} HTTP/1.1`;
    const length = `Content-Length: ${body.length}`;
    const head = [first, 'Host: x', 'Connection: close', ...fields, length];
    const answer = parseAnswer(await exchange(port, `${head.join('\r\n')}\r\n\r\n${body}`));
    assert.equal(answer.status, status, answer.body);
    const expected = steps.replace(/[A-Z_]+1?\b/g, (name) => GROUPS[name] ?? name);
    assert.equal(taken.join(' '), expected);
    const added = taken.filter((step) => lines.includes(step));
    assert.match(lines.join(' '), RegExp(added.join('\\b.*\\b')));
    await until(() => app.readConnections().connections === 0);
  });
}
