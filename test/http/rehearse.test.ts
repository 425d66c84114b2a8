/** `serve --rehearse`: the failures that a request asks for by `Prefer`, and what is done behind them. */

import assert from 'node:assert/strict';
import type { OutgoingHttpHeaders } from 'node:http';
import { describe, test } from 'node:test';
import { COUNTED_MAX, DELAYED_MAX } from '../../src/http/hooks/rehearse.ts';
import { startSharedApp, startTestApp } from '../support/app.ts';
import { countPets } from '../support/count-pets.ts';
import { assertError, assertJson, type Code, STATUS_OF, send } from '../support/request.ts';
import { type Answer, exchange } from '../support/socket.ts';
import { until } from '../support/until.ts';

const REX = '{"name":"Rex","categoryId":3}';

const service = await startSharedApp({ rehearse: true });
const { port, store, authorization } = service;

const list = (headers: OutgoingHttpHeaders): Promise<Answer> =>
  send(port, { path: '/v1/pets', headers: { ...authorization, ...headers } });

const create = (headers: OutgoingHttpHeaders): Promise<Answer> =>
  send(port, {
    ...{ method: 'POST', path: '/v1/pets', body: REX },
    headers: { ...authorization, ...headers },
  });

/** The bytes of a create. */
const toBytes = (fields: string): string =>
  `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization.authorization}\r\n${fields}\r\nContent-Length: ${REX.length}\r\n\r\n${REX}`;

const FIELDS: Partial<Record<Code, Readonly<Record<string, string>>>> = {
  unauthorized: { 'www-authenticate': 'Bearer realm="petstore", error="invalid_token"' },
  method_not_allowed: { allow: 'GET, HEAD, POST, OPTIONS' },
  request_timeout: { connection: 'close' },
  payload_too_large: { connection: 'close' },
  headers_too_large: { connection: 'close' },
};

describe('rehearse', { concurrency: true }, () => {
  for (const [code, status] of Object.entries(STATUS_OF) as [Code, number][]) {
    test(`rehearse › Prefer: status=${status} › answers ${code} with its header fields`, async () => {
      const answer = await list({ prefer: `status=${status}` });
      assertError(answer, code, /./);
      assert.equal(answer.headers['preference-applied'], `status=${status}`);
      for (const [name, value] of Object.entries(FIELDS[code] ?? {})) {
        assert.equal(answer.headers[name], value, name);
      }
    });
  }

  test('rehearse › Prefer: status=400 › answers a message that fits any 400', async () => {
    const message = /^the request is wrong: correct it before it is sent again$/;
    assertError(await list({ prefer: 'status=400' }), 'bad_request', message);
  });

  test('rehearse › a create with Prefer: status=410 › is not done, and has a line in the log', async () => {
    const key = { 'idempotency-key': 'refused' };
    const sent = { ...key, 'x-request-id': 'rehearsed-410' };
    // The log has only some refusals of a status in a second: few other tests ask for this status.
    assert.equal((await create({ ...sent, prefer: 'status=410' })).status, 410);
    const created = await create(key);
    assertJson(created, 201);
    assert.equal(created.headers['idempotency-replayed'], undefined);
    const line = service.log.find(({ requestId }) => requestId === 'rehearsed-410');
    assert.equal(line?.reason, 'rehearsed');
  });

  for (const prefer of ['', 'Prefer: lose-answer\r\n']) {
    test(`rehearse › a create with Prefer: lose-answer, sent again ${prefer.trim()} › is done once, and its second answer comes`, async () => {
      const key = `Idempotency-Key: lost${prefer.length}`;
      assert.equal(await exchange(port, toBytes(`${key}\r\nPrefer: lose-answer`)), '');
      const again = await exchange(port, toBytes(`${key}\r\n${prefer}Connection: close`));
      assert.match(again, /^HTTP\/1\.1 201 Created\r\n/);
      assert.match(again, /\r\nIdempotency-Replayed: true\r\n/);
      assert.match(again, /\r\n\r\n\{"id":\d+,"name":"Rex","categoryId":3\}$/);
    });
  }

  test('rehearse › Prefer: delay and status › waits, and answers the status', async () => {
    const sentAt = performance.now();
    const answer = await list({ prefer: 'delay=0.4, status=429' });
    // A timer may end a part of a millisecond early.
    assert.ok(performance.now() - sentAt > 400 - 2);
    assertError(answer, 'rate_limited', /./);
  });

  test('rehearse › Prefer: status=503, times=2 › fails twice for a key, method and path, then succeeds, and begins anew', async () => {
    const { id } = await store.pets.add({ name: 'Rex', categoryId: 3n });
    const headers = { ...authorization, prefer: 'status=503, times=2' };
    const answers: unknown[] = [];
    for (const [path, method = 'GET'] of [
      ...[[`${id}?x=1`], [`${id}9`], [`${id}`, 'HEAD']],
      ...[[`${id}?x=2`], [`${id}`], [`${id}`]],
    ]) {
      const answer = await send(port, { method, path: `/v1/pets/${path}`, headers });
      answers.push([answer.status, answer.headers['preference-applied']]);
    }
    const failed = [503, headers.prefer];
    assert.deepEqual(answers, [failed, failed, failed, failed, [200, undefined], failed]);
  });

  test('rehearse › more paths than are counted › are all forgotten', async () => {
    const ask = async (id: number) => {
      const headers = { ...authorization, prefer: 'status=503, times=1' };
      const url = `/v1/pets/${1_000_000 + id}`;
      return (await service.app.inject({ url, headers })).statusCode;
    };
    for (let id = 0; id <= COUNTED_MAX; id += 1) assert.equal(await ask(id), 503);
    assert.deepEqual([await ask(0), await ask(COUNTED_MAX)], [503, 404]);
  });

  for (const prefer of [
    ...['status=200', 'status=4290', 'status', 'code=abc', 'lose-answer, status=999'],
    ...['delay=31', 'delay=30.001', 'delay=-1', 'delay', 'lose-answer, delay=1.0001'],
    ...['status=503, times=0', 'times=2', 'lose-answer=false'],
    ...['staus=503', 'return=minimal, status=503', '__proto__'],
  ]) {
    test(`rehearse › Prefer: ${prefer} › answers 400 and says what it takes`, async () => {
      const rule = /^Prefer must be status \(400, 401, .*\), lose-answer, delay .* or .* times/;
      assertError(await list({ prefer }), 'bad_request', rule);
    });
  }

  for (const [prefer, status, applied] of [
    ['STATUS = "503" ; x=y', 503, 'status=503'],
    ['code=503', 503, 'status=503'],
    ['status=410, status=503', 410, 'status=410'],
    ['delay=0, , ;', 200, 'delay=0'],
    ['', 200, undefined],
  ] as const) {
    test(`rehearse › Prefer: ${prefer} › is read as RFC 7240 says`, async () => {
      const answer = await list({ prefer });
      assert.equal(answer.status, status);
      assert.equal(answer.headers['preference-applied'], applied);
    });
  }

  test('rehearse › Prefer without a key › is 401 at once, and ignored by a page', async () => {
    const headers = { prefer: 'lose-answer, delay=30' };
    assertJson(await send(port, { path: '/livez', headers }), 200);
    const answer = await send(port, { path: '/v1/pets', headers });
    assertError(answer, 'unauthorized', /^a valid API key is required/);
  });
});

test('rehearse › more delayed requests than a process takes › are 503, and others find a place in the queue', async () => {
  await using app = await startTestApp({ rehearse: true, store: { ...store, connectionsMax: 1 } });
  const sendDelayed = (count: number, seconds: number) => {
    const headers = { ...app.authorization, prefer: `delay=${seconds}` };
    return Array.from({ length: count }, () => send(app.port, { path: '/v1/pets', headers }));
  };
  const sent = sendDelayed(DELAYED_MAX + 1, 4);
  assertError(await Promise.race(sent), 'unavailable', /./);
  assertJson(await send(app.port, { path: '/v1/pets', headers: app.authorization }), 200);
  await Promise.all(sent);
  // The refused one has taken no place. On a busy machine, some may wait too long for their turn.
  await until(async () => {
    const answers = await Promise.all(sendDelayed(DELAYED_MAX, 2));
    return answers.every(({ status }) => status === 200);
  });
});

test('rehearse › a create with Prefer: delay whose client goes › is done', async () => {
  await using app = await startTestApp({ rehearse: true });
  const sent = { method: 'POST', path: '/v1/pets', body: REX };
  const headers = { ...app.authorization, prefer: 'delay=2' };
  // On a busy machine a client may go before its body has come: then nothing is done.
  await until(async () => {
    const answer = send(app.port, { ...sent, headers, signal: AbortSignal.timeout(500) });
    await assert.rejects(answer);
    return (await countPets(app.store.pets)) > 0;
  });
});

test('rehearse › without the option › Prefer does nothing', async () => {
  await using plain = await startTestApp();
  const headers = { ...plain.authorization, prefer: 'status=503' };
  assertJson(await send(plain.port, { path: '/v1/pets', headers }), 200);
});
