/** Sends requests to the real program, on many connections at a time, and measures its memory meanwhile. */

import assert from 'node:assert/strict';
import { assertFlat, MEASURABLE, type Memory, measureMemory } from '../support/memory.ts';
import { getAdmin } from '../support/metrics.ts';
import { type RunningService, startService } from '../support/program.ts';
import { assertJson, send } from '../support/request.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const CONNECTIONS = 32;
const MEASUREMENTS = 40;
const HEAP_MIB = 512;
const RSS_MIB_MAX = 400;
const UNAVAILABLE_SHARE_MAX = 0.01;

interface Target extends RunningService {
  readonly admin: string;
  /** The lines of its log that are not JSON, or report an error. */
  readonly wrongLines: readonly string[];
}

/** Starts the program on a new database with one pet. */
export async function startTarget(): Promise<Target> {
  const env = {
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB} --max-semi-space-size=8 ${MEASURABLE}`,
  };
  const args = ['--admin-port', '0', '--database', 'sqlite:pets.db'];
  const service = await startService(args, { cwd: createProcessFolder(), env });
  const { output } = service;
  const admin = getAdmin(service);
  const wrongLines: string[] = [];
  // A run has more lines than a string can hold. The last one may not be complete.
  service.process.stderr?.on('data', () => {
    const lines = output.stderr.split('\n');
    const isOfHeap = (line: string) => line.startsWith('heap: ');
    output.stderr = [...lines.slice(0, -1).filter(isOfHeap), lines.at(-1)].join('\n');
    wrongLines.push(...lines.slice(0, -1).filter((line) => !isOfHeap(line) && isWrong(line)));
  });
  const headers = { authorization: `Bearer ${service.key}` };
  const body = '{"name":"Rex","categoryId":1}';
  assertJson(await send(service.port, { method: 'POST', path: '/v1/pets', headers, body }), 201);
  return { ...service, admin, wrongLines };
}

/** A line is JSON of a request that the service has answered, or of refusals that it has counted. */
function isWrong(line: string): boolean {
  try {
    return JSON.parse(line).level !== 'info' || /undefined|NaN/.test(line);
  } catch {
    return true;
  }
}

/**
 * Calls `ask` with the number of each call, until so many answers came. Asserts that the memory stays the same,
 * and that the program serves and has logged nothing.
 *
 * @param ask sends some requests, and resolves to the statuses of their answers, if they are right.
 * @returns the figures.
 */
export async function assertEndures(
  service: Target,
  requests: number,
  ask: (number: number) => Promise<number[]>,
): Promise<string> {
  const { port, key } = service;
  const counts = new Map<number, number>();
  const memory: Memory[] = [];
  let answered = 0;
  let calls = 0;
  const askOnce = async () => {
    calls += 1;
    const statuses = await ask(calls);
    answered += statuses.length;
    for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  };
  const startedAt = performance.now();
  for (let round = 1; round <= MEASUREMENTS; round += 1) {
    const run = async () => {
      while (answered < (round * requests) / MEASUREMENTS) await askOnce();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, run));
    memory.push(await measureMemory(service));
  }
  const seconds = (performance.now() - startedAt) / 1_000;

  const { rssMib, heapMib } = await measureMemory(service);
  const figures = [
    `${answered} answers to ${calls} calls in ${seconds.toFixed()} s`,
    `${rssMib.toFixed()} MiB, of which the heap has ${heapMib.toFixed(1)}`,
    ...[...counts].sort(([a], [b]) => a - b).map(([status, times]) => `${status}: ${times}`),
  ].join('; ');
  assert.ok(rssMib < RSS_MIB_MAX, figures);
  // Each request may be answered 503, but not all of them.
  assert.ok((counts.get(503) ?? 0) <= answered * UNAVAILABLE_SHARE_MAX, figures);
  assertFlat(memory);
  const headers = { authorization: `Bearer ${key}` };
  assertJson(await send(port, { path: '/v1/pets?limit=1', headers }), 200);
  assert.deepEqual(service.wrongLines, []);
  const metrics = await (await fetch(`${service.admin}/metrics`)).text();
  assert.match(metrics, /^petstore_http_connections \d/m);
  assert.doesNotMatch(metrics, /[ "](?:nan|undefined)\b/i);
  return figures;
}
