/** `petstore keys …`: creates, lists, revokes and rotates API keys. The text of a key is printed once, and not stored. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { type ApiKey, createApiKey, getKeyState, type KeyOptions } from '../../api-key.ts';
import { badRequest, PetstoreError } from '../../error.ts';
import { findCanonicalInt64 } from '../../int64.ts';
import { UNPRINTABLE } from '../../printable.ts';
import type { Store } from '../../store.ts';
import { createIdError, environmentOption, jsonOption } from '../options.ts';
import { addExamples, say, toTable } from '../output.ts';
import { print, writeOutput } from '../standard-output.ts';
import { addStoreCommand, type PrintOptions, READS, withStore } from '../with-store.ts';

const DAY_MS = 86_400_000;
const DURATION_DAYS_MAX = 36_500;
const MS_OF_UNIT: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS };

const KEY_ID = 'the id that keys list shows';
const NO_KEY =
  'There is no key yet. The first key decides the environment of the store: petstore keys create --name NAME --environment ENVIRONMENT';

type RotateOptions = PrintOptions & { readonly overlap: number };

export function addKeys(program: Command): void {
  const keys = addExamples(
    program.command('keys'),
    'petstore keys create --name ci',
    'petstore keys list',
  ).description('create, list, revoke and rotate API keys');
  addStoreCommand(keys, 'create', 'petstore keys create --name ci --expires 90d')
    .description('create a key and print it, only this once')
    .requiredOption('--name <name>', 'the name of the key, such as who uses it', parseKeyName)
    .option(
      '--expires <duration>',
      'how long the key is valid, such as 90d, 24h, 30m or 60s (default: for ever)',
      (text) => parseDuration(text, 1),
    )
    .option('--read-only', 'the key may list and get pets, but not add any', false)
    .addOption(environmentOption())
    .addOption(jsonOption())
    .action(withStore(addKey, { create: true }));
  addStoreCommand(keys, 'list', 'petstore keys list --json')
    .description('list all keys, without their texts')
    .addOption(jsonOption())
    .action(withStore(listKeys, READS));
  addStoreCommand(keys, 'revoke', 'petstore keys revoke 2')
    .description('refuse a key, in every running service within a second')
    .argument('<id>', KEY_ID, parseKeyId)
    .action(withStore(revokeKey));
  addStoreCommand(keys, 'rotate', 'petstore keys rotate 3 --overlap 24h')
    .description(
      'create a key with the name, rights and lifetime of an old key, which still works for a while',
    )
    .argument('<id>', KEY_ID, parseKeyId)
    .addOption(
      new Option('--overlap <duration>', 'how long the old key still works, such as 24h or 0s')
        .default(DAY_MS, '24h')
        .argParser((text) => parseDuration(text, 0)),
    )
    .addOption(jsonOption())
    .action(withStore(rotateKey));
}

function parseKeyId(text: string): number {
  const id = Number(findCanonicalInt64(text));
  if (id >= 1 && Number.isSafeInteger(id)) return id;
  throw createIdError('key', text);
}

function parseKeyName(text: string): string {
  if (text.length <= 100 && text.trim() !== '' && text.search(UNPRINTABLE) === -1) return text;
  throw new InvalidArgumentError('It must be 1 to 100 characters, not blank, on one line.');
}

function parseDuration(text: string, secondsMin: number): number {
  const [, count, unit = ''] = /^(\d{1,12})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (MS_OF_UNIT[unit] ?? Number.NaN);
  if (ms >= secondsMin * 1_000 && ms <= DURATION_DAYS_MAX * DAY_MS) return ms;
  throw new InvalidArgumentError(
    `It must be a number and its unit, such as 90d, 24h, 30m or 60s: at least ${secondsMin}s, at most ${DURATION_DAYS_MAX}d.`,
  );
}

async function addKey(store: Store, options: PrintOptions & KeyOptions): Promise<void> {
  const { text, newKey } = createApiKey(options, Date.now());
  await printNewKey(text, await store.keys.add(newKey), options);
}

async function rotateKey(store: Store, id: number, options: RotateOptions): Promise<void> {
  const now = Date.now();
  const old = (await store.keys.list()).find((key) => key.id === id);
  if (old === undefined) throw new PetstoreError('not_found', `there is no key ${id}`);
  const { name, environment, isReadOnly: readOnly, createdAt, expiresAt } = old;
  const expires = expiresAt && expiresAt - createdAt;
  const oldExpiresAt = Math.min(now + options.overlap, expiresAt ?? Infinity);
  const { text, newKey } = createApiKey({ name, environment, readOnly, expires }, now);
  await printNewKey(text, await store.keys.rotate(id, newKey, oldExpiresAt), options);
  say(`Key ${id} works until ${toTime(oldExpiresAt)}.`);
}

async function revokeKey(store: Store, id: number): Promise<void> {
  await store.keys.revoke(id, Date.now());
  say(`Key ${id} is revoked: every running service refuses it within a second.`);
}

async function listKeys(store: Store, { json }: PrintOptions): Promise<void> {
  const keys = (await store.keys.list()).map(toPrintedKey);
  if (json) await print(`${JSON.stringify(keys, null, 2)}\n`);
  else if (keys.length === 0) say(NO_KEY);
  else {
    const head = ['ID', 'NAME', 'ENVIRONMENT', 'MAY', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED'];
    const rows = keys.map((key) => Object.values(key).map((value) => String(value ?? '-')));
    await print(await toTable([head, ...rows]));
  }
}

function toPrintedKey(key: ApiKey) {
  const { id, name, environment, isReadOnly, createdAt, expiresAt, lastUsedAt } = key;
  return {
    id,
    name,
    environment,
    may: isReadOnly ? 'read' : 'read and add',
    state: getKeyState(key, Date.now()),
    created: toTime(createdAt),
    expires: expiresAt === undefined ? null : toTime(expiresAt),
    lastUsed: lastUsedAt === undefined ? null : toTime(lastUsedAt),
  };
}

/** Standard output has only the key, or one JSON object: a script can read it. */
async function printNewKey(text: string, key: ApiKey, { json }: PrintOptions): Promise<void> {
  const printed = json ? JSON.stringify({ key: text, ...toPrintedKey(key) }) : text;
  await writeOutput(`${printed}\n`).catch((cause) => {
    const lost = `revoke key ${key.id}, whose text is lost, and create another`;
    const message = `standard output cannot be written: ${cause.message}; ${lost}`;
    throw badRequest(message, { cause });
  });
  const { id, name, environment, isReadOnly, expiresAt } = key;
  const rights = isReadOnly ? ', read-only' : '';
  const end = expiresAt === undefined ? 'never expires' : `expires at ${toTime(expiresAt)}`;
  say(`Key ${id} (${name}) for ${environment}${rights}, ${end}. It is shown only now.`);
}

function toTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+/, '');
}
