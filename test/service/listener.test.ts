/** How the listener of a service stops: connections whose last answer does not say so are closed too. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { SCRIPT_NAME } from '../../src/http/routes/docs.ts';
import type { OptionRow } from '../../src/option.ts';
import { startListener } from '../../src/service/listener.ts';
import { createLog } from '../../src/service/open-log.ts';
import { SERVE_OPTIONS, type ServeOptions } from '../../src/service/serve-options.ts';
import { openStore } from '../../src/storage/open.ts';
import { sum } from '../support/metrics.ts';
import { openConnection } from '../support/socket.ts';
import { until, within } from '../support/until.ts';

test('listener › stopped while an answer is read slowly › closes its connection soon after its end', async () => {
  let lines = 0;
  const log = createLog('info', () => {
    lines += 1;
  });
  const rows = Object.entries<OptionRow>(SERVE_OPTIONS);
  const defaults = rows.map(([name, row]) => [name, row.default]);
  const options: ServeOptions = {
    ...Object.fromEntries(defaults),
    ...{ database: 'sqlite::memory:', port: 0, adminPort: 0 },
  };
  await using store = await openStore(options.database, { create: true });
  const openedLog = { log, say: log.info, countDropped: () => 0, close: async () => true };
  const service = await startListener(options, store, openedLog);
  using slow = openConnection(service.port);
  slow.socket.pause();
  // The kernel takes the first answers: the last one stays.
  for (let polls = 0; polls < 20; ) {
    const before = lines;
    slow.socket.write(`GET /docs/js/${SCRIPT_NAME} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await until(() => lines > before);
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
