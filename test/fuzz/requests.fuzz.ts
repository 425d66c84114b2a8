/**
 * Random requests to the real program: each answer is well-formed and one that the interface allows, in
 * order and in time.
 *
 * `TEST_FUZZ_REQUESTS=1000000 TEST_FUZZ_SEED=7 npm run fuzz`; the seed is printed, and with the same one
 * each connection sends the same bytes.
 */

import { randomInt } from 'node:crypto';
import { after, test } from 'node:test';
import { createDice } from './dice.ts';
import { createConversation } from './requests.ts';
import { assertEndures, startTarget } from './run.ts';

const REQUESTS = Number(process.env.TEST_FUZZ_REQUESTS ?? 20_000);
const SEED = Number(process.env.TEST_FUZZ_SEED ?? randomInt(2 ** 31));
/** Keeps the connections of neighbouring seeds apart. */
const SPREAD = 0x9e3779b1;

const service = await startTarget();
after(() => service[Symbol.asyncDispose]());

test(`fuzz › ${REQUESTS} random requests › are answered as documented`, async (t) => {
  t.diagnostic(`TEST_FUZZ_SEED=${SEED}`);
  const figures = await assertEndures(service, REQUESTS, (number) =>
    createConversation(createDice(Math.imul(SEED, SPREAD) + number), service.key, `${number}`),
  );
  t.diagnostic(figures);
});
