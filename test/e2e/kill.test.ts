/** What is left after kill -9 in the middle of creates: every acknowledged animal, once. */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { type RunningService, startService } from '../support/program.ts';

const ROUNDS = Number(process.env.PETSTORE_TEST_KILLS ?? 5);
const CLIENTS = 8;
const CREATED_MIN = Number(process.env.PETSTORE_TEST_CREATES ?? 50);

/** Adds animals until the service is gone; `created` gets the name of each that was acknowledged. */
async function createUntilGone(
  { url }: RunningService,
  key: string,
  prefix: string,
  onCreated: (id: number, name: string) => void,
): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  for (let count = 0; ; count += 1) {
    const name = `${prefix} ${count}`;
    const body = JSON.stringify({ name, categoryId: 1 });
    let answer: Response;
    let text: string;
    try {
      answer = await fetch(`${url}/v1/pets`, { method: 'POST', headers, body });
      text = await answer.text();
    } catch {
      return;
    }
    assert.equal(answer.status, 201, text);
    const pet: { id: number } = JSON.parse(text);
    onCreated(pet.id, name);
  }
}

/** Creates with all clients and kills the service once there are so many; returns the name of each id. */
async function killWhileCreating(
  service: RunningService,
  key: string,
  round: number,
): Promise<Map<number, string>> {
  const created = new Map<number, string>();
  // Another moment of the work in each round.
  const most = CREATED_MIN + ((round * 7) % 20);
  const clients = Array.from({ length: CLIENTS }, (_, client) =>
    createUntilGone(service, key, `round ${round} client ${client}`, (id, name) => {
      assert.ok(!created.has(id), `the id ${id} was given twice`);
      created.set(id, name);
      if (created.size === most) service.process.kill('SIGKILL');
    }),
  );
  await Promise.all(clients);
  assert.equal((await service.finished).signal, 'SIGKILL');
  return created;
}

/** All animals, by the pages that the service serves. */
async function listAll(service: RunningService, key: string): Promise<[number, string][]> {
  const headers = { authorization: `Bearer ${key}` };
  const rows: [number, string][] = [];
  let path: string | undefined = '/v1/pets?limit=100';
  while (path !== undefined) {
    const answer: Response = await fetch(service.url + path, { headers });
    const pets: { id: number; name: string }[] = JSON.parse(await answer.text());
    rows.push(...pets.map(({ id, name }): [number, string] => [id, name]));
    path = /^<(.+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
  }
  return rows;
}

function assertKept(kept: readonly [number, string][], created: ReadonlyMap<number, string>): void {
  const names = new Map(kept);
  assert.equal(names.size, kept.length, 'an id is there twice');
  assert.equal(new Set(names.values()).size, kept.length, 'an animal is there twice');
  for (const [id, name] of created) assert.equal(names.get(id), name, `the animal ${id}`);
}

function checkIntegrity(file: string): unknown {
  const connection = new DatabaseSync(file, { readOnly: true });
  try {
    return connection.prepare('pragma integrity_check').get()?.integrity_check;
  } finally {
    connection.close();
  }
}

test(`kill -9 › ${ROUNDS} times amid creates › loses, doubles and renumbers none`, async (t: TestContext) => {
  const cwd = await mkdtemp(join(tmpdir(), 'petstore-'));
  const created = new Map<number, string>();
  let slowestMs = 0;
  let unanswered = 0;
  let service = await startService(['--log-level', 'silent'], { cwd });
  const { key } = service;
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [id, name] of await killWhileCreating(service, key, round)) {
        assert.ok(!created.has(id), `the id ${id} was used before`);
        created.set(id, name);
      }
      const began = performance.now();
      service = await startService(['--log-level', 'silent'], { cwd });
      slowestMs = Math.max(slowestMs, performance.now() - began);
      const kept = await listAll(service, key);
      assertKept(kept, created);
      unanswered = kept.length - created.size;
      assert.equal(checkIntegrity(join(cwd, 'petstore.db')), 'ok');
    }
  } finally {
    await service[Symbol.asyncDispose]();
    await rm(cwd, { recursive: true });
  }
  t.diagnostic(
    `${created.size} creates acknowledged and kept, ${unanswered} kept that were cut off before their answer, slowest start ${Math.round(slowestMs)} ms`,
  );
});
