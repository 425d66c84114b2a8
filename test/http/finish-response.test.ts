/** When answers are sent: at the end of their turn, and each leaves its place to the next request. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { LIMITS } from '../../src/http/limits.ts';
import { startTestApp } from '../support/app.ts';
import { send } from '../support/request.ts';
import { within } from '../support/until.ts';

const service = await startTestApp();
after(() => service[Symbol.asyncDispose]());
const { port, authorization: headers } = service;

test('answers › one alone, several of a turn, and one after them › are sent soon', async () => {
  for (const count of [1, 3, 1]) {
    const sent = Array.from({ length: count }, () => send(port, { path: '/livez' }));
    for (const { status } of await within(Promise.all(sent))) assert.equal(status, 200);
  }
});

test('answers › more reads one after the other than may be at work › are all sent soon', async () => {
  for (let count = 0; count <= LIMITS.READS_AT_WORK_MAX; count += 1) {
    const { status } = await within(send(port, { path: '/v1/pets', headers }));
    assert.equal(status, 200);
  }
});
