/** `petstore keys …`: makes, shows, revokes and rotates API keys; a key itself is printed once and never kept. */

import { digestApiKey, type Environment, issueApiKey } from '../../api-key.ts';
import { PetstoreError } from '../../error.ts';
import type { ApiKey, NewApiKey, Store } from '../../store.ts';

export interface CreateKeyConfig {
  readonly name: string;
  readonly environment: Environment;
  /** How long it is good for, in milliseconds; absent: for ever. */
  readonly expires?: number;
}

export async function createKey(store: Store, config: CreateKeyConfig): Promise<void> {
  const { key, newKey } = issueKey(config);
  await print(key);
  describe(await store.keys.add(newKey));
}

/** The new key has the name and the lifetime of the old one, which works on for the overlap. */
export async function rotateKey(store: Store, id: number, overlap: number): Promise<void> {
  const now = Date.now();
  const old = (await store.keys.list()).find((key) => key.id === id);
  if (old === undefined) throw new PetstoreError('not_found', `there is no key ${id}`);
  const state = describeState(old, now);
  if (state !== 'active') {
    throw new PetstoreError('gone', `key ${id} is ${state}: make a new one with keys create`);
  }
  if (old.rotatedAt !== undefined) {
    throw new PetstoreError('gone', `key ${id} was rotated already: rotate the one made then`);
  }
  const { name, environment, createdAt, expiresAt } = old;
  const lifetime = expiresAt === undefined ? {} : { expires: expiresAt - createdAt };
  const { key, newKey } = issueKey({ name, environment, ...lifetime });
  await print(key);
  describe(await store.keys.rotate(id, newKey, now + overlap));
  say(`Key ${id} works until ${toTime(Math.min(now + overlap, expiresAt ?? now + overlap))}.`);
}

export async function revokeKey(store: Store, id: number): Promise<void> {
  await store.keys.revoke(id, Date.now());
  say(`Key ${id} is revoked: every running service refuses it within a second.`);
}

export async function listKeys(store: Store, { json }: { json: boolean }): Promise<void> {
  const now = Date.now();
  const keys = (await store.keys.list()).map((key) => ({
    id: key.id,
    name: key.name,
    environment: key.environment,
    state: describeState(key, now),
    created: toTime(key.createdAt),
    expires: key.expiresAt === undefined ? null : toTime(key.expiresAt),
    lastUsed: key.lastUsedAt === undefined ? null : toTime(key.lastUsedAt),
  }));
  if (json) process.stdout.write(`${JSON.stringify(keys, null, 2)}\n`);
  else if (keys.length === 0) say('There is no key yet: make one with keys create --name NAME.');
  else process.stdout.write(toTable(keys));
}

/** A new key, and what is kept of it. */
export function issueKey({ name, environment, expires }: CreateKeyConfig): {
  key: string;
  newKey: NewApiKey;
} {
  const key = issueApiKey(environment);
  const createdAt = Date.now();
  const expiry = expires === undefined ? {} : { expiresAt: createdAt + expires };
  return { key, newKey: { digest: digestApiKey(key), name, environment, createdAt, ...expiry } };
}

/**
 * The key alone on standard output, so that a script can take it; the words elsewhere. It is written
 * before it is stored: a key that could not be shown must not work.
 */
async function print(key: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(`${key}\n`, (error) => (error ? reject(error) : resolve()));
  });
}

function describe({ id, name, environment, expiresAt }: ApiKey): void {
  const end = expiresAt === undefined ? 'never expires' : `expires at ${toTime(expiresAt)}`;
  say(`Key ${id} (${name}) for ${environment}, ${end}. It is shown only now.`);
}

/** Whether a key opens the service now: `active`, `expired` or `revoked`. */
export function describeState({ revokedAt, expiresAt }: ApiKey, now: number): string {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'active';
}

function toTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+/, '');
}

function toTable(rows: readonly Readonly<Record<string, string | number | null>>[]): string {
  const names = Object.keys(rows[0] ?? {});
  const lines = [names.map((name) => name.replace('lastUsed', 'last used').toUpperCase())].concat(
    rows.map((row) => names.map((name) => String(row[name] ?? '-'))),
  );
  const widths = names.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

function say(words: string): void {
  process.stderr.write(`${words}\n`);
}
