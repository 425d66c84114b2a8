/**
 * Random bytes to the real program, of requests that are cut, repeated and changed: each answer is well-formed
 * and in time. What a well-framed request is answered, Schemathesis asks in `npm run conformance`.
 *
 * `TEST_FUZZ_REQUESTS=1000000 TEST_FUZZ_SEED=7 npm run suite fuzz`; the seed is printed, and with the same one
 * each connection sends the same bytes.
 */

import { randomInt } from 'node:crypto';
import { after, test } from 'node:test';
import { createDice } from '../support/dice.ts';
import { converse } from './converse.ts';
import { createConversation } from './requests.ts';
import { assertEndures, startTarget } from './run.ts';

const REQUESTS = Number(process.env.TEST_FUZZ_REQUESTS ?? 20_000);
const SEED = Number(process.env.TEST_FUZZ_SEED ?? randomInt(2 ** 31));
/** Keeps the connections of neighbouring seeds apart. */
const SPREAD = 0x9e3779b1;

const service = await startTarget();
after(() => service[Symbol.asyncDispose]());

test(`fuzz › ${REQUESTS} random requests › are answered well-formed and in time`, async (t) => {
  t.diagnostic(`TEST_FUZZ_SEED=${SEED}`);
  const figures = await assertEndures(service, REQUESTS, (number) => {
    const dice = createDice(Math.imul(SEED, SPREAD) + number);
    return converse(service.port, createConversation(dice, service.key, `${number}`));
  });
  t.diagnostic(figures);
});
