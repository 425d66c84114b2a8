/** How the listener of a service stops: which connections are closed, and when. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { SCRIPT_NAME } from '../../src/http/routes/docs.ts';
import type { OptionRow } from '../../src/option.ts';
import { startListener } from '../../src/service/listener.ts';
import { createLog } from '../../src/service/open-log.ts';
import { SERVE_OPTIONS, type ServeOptions } from '../../src/service/serve-options.ts';
import type { Service } from '../../src/service/service.ts';
import { openStore } from '../../src/storage/open.ts';
import { addKey } from '../support/app.ts';
import { sum } from '../support/metrics.ts';
import { openConnection } from '../support/socket.ts';
import { until, within } from '../support/until.ts';

const BODY = '{"name":"Rex","categoryId":1}';

/** A service that stops at its first log line with this text, and its key; `await using` closes its store. */
async function start(stopsAt: string) {
  const store = await openStore('sqlite::memory:', { create: true });
  const key = await addKey(store, { environment: 'staging' });
  let lines = 0;
  let service: Service | undefined;
  let stopped: Promise<void> | undefined;
  const log = createLog('info', (line) => {
    lines += 1;
    // The line is written once the headers of the answer are decided, and before they are sent.
    if (line.includes(stopsAt)) stopped ??= service?.stop();
  });
  const defaults = Object.entries<OptionRow>(SERVE_OPTIONS).map(([name, row]) => [
    name,
    row.default,
  ]);
  const options: ServeOptions = {
    ...Object.fromEntries(defaults),
    ...{ database: 'sqlite::memory:', port: 0, adminPort: 0 },
  };
  const openedLog = { log, say: log.info, countDropped: () => 0, close: async () => true };
  service = await startListener(options, store, openedLog);
  return {
    service,
    key,
    countLines: () => lines,
    stopped: () => stopped,
    [Symbol.asyncDispose]: () => store.close(),
  };
}

test('listener › stopped between an answer and its sending › closes that connection while others are answered', async () => {
  await using started = await start('"/livez"');
  const { service, key } = started;

  // Without its end the service waits for 10 s, and closes all connections then.
  using held = openConnection(service.port);
  const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
  const sent = `${head}Expect: 100-continue\r\nContent-Length: ${BODY.length}\r\n\r\n`;
  held.socket.write(sent);
  await until(() => held.received === 'HTTP/1.1 100 Continue\r\n\r\n');

  using idle = openConnection(service.port);
  idle.socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  const answer = await idle.readToEnd(8_000);
  assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
  assert.doesNotMatch(answer, /\r\nconnection: close\r\n/i);
  held.socket.write(BODY);
  assert.match(await held.readToEnd(8_000), /\r\n\r\nHTTP\/1\.1 201 Created\r\n/);
  await within(Promise.resolve(started.stopped()));
});

test('listener › stopped while an answer is read slowly › closes its connection soon after its end', async () => {
  await using started = await start('nothing');
  const { service, countLines } = started;
  using slow = openConnection(service.port);
  slow.socket.pause();
  // The kernel takes the first answers: the last one stays.
  for (let polls = 0; polls < 20; ) {
    const lines = countLines();
    slow.socket.write(`GET /docs/js/${SCRIPT_NAME} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await until(() => countLines() > lines);
    await until(async () => {
      const metrics = (await service.readMetrics?.()) ?? '';
      polls = sum(metrics, 'petstore_http_requests_in_flight') === 0 ? 0 : polls + 1;
      return polls === 0 || polls === 20;
    });
  }
  const stopping = service.stop();
  await setTimeout(200);
  slow.socket.resume();
  // The service closes all connections after 10 s.
  await until(() => slow.socket.closed, 8_000);
  assert.ok(!/\r\nconnection: close\r\n/i.test(slow.received));
  await within(stopping);
});
