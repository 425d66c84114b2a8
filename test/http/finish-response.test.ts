/** When answers are sent: at the end of their turn, and each leaves its place to the next request. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CREATES_AT_WORK_MAX } from '../../src/http/hooks/fair-queue.ts';
import { startTestApp } from '../support/app.ts';
import { send } from '../support/request.ts';
import { within } from '../support/until.ts';

test('answers › several of a turn, and more one by one than may be at work › are sent soon', async () => {
  await using service = await startTestApp();
  const list = { path: '/v1/pets', headers: service.authorization };
  for (const count of [1, 3, ...Array(CREATES_AT_WORK_MAX).fill(1)]) {
    const sent = Array.from({ length: count }, () => send(service.port, list));
    for (const { status } of await within(Promise.all(sent))) assert.equal(status, 200);
  }
});
