/** `petstore keys …`: creates, lists, revokes and rotates API keys. The text of a key is printed once, and not stored. */

import { type Command, Option } from 'commander';
import { type ApiKey, createApiKey, getKeyState, type KeyOptions } from '../../api-key.ts';
import { PetstoreError } from '../../error.ts';
import type { Store } from '../../store.ts';
import {
  DAY_MS,
  environmentOption,
  jsonOption,
  parseDuration,
  parseKeyId,
  parseKeyName,
} from '../options.ts';
import { addExamples, say, toTable } from '../output.ts';
import { addStoreCommand, type PrintOptions, withStore } from '../with-store.ts';

const KEY_ID = 'the id that keys list shows';

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
    .action(withStore(listKeys));
  addStoreCommand(keys, 'revoke', 'petstore keys revoke 3')
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

async function addKey(store: Store, options: PrintOptions & KeyOptions): Promise<void> {
  const { text, newKey } = createApiKey(options, Date.now());
  printNewKey(text, await store.keys.add(newKey), options);
}

async function rotateKey(store: Store, id: number, options: RotateOptions): Promise<void> {
  const now = Date.now();
  const old = (await store.keys.list()).find((key) => key.id === id);
  if (old === undefined) throw new PetstoreError('not_found', `there is no key ${id}`);
  const { name, environment, isReadOnly: readOnly = false, createdAt, expiresAt } = old;
  const lifetime = expiresAt === undefined ? {} : { expires: expiresAt - createdAt };
  const oldExpiresAt = Math.min(now + options.overlap, expiresAt ?? Number.POSITIVE_INFINITY);
  const { text, newKey } = createApiKey({ name, environment, readOnly, ...lifetime }, now);
  printNewKey(text, await store.keys.rotate(id, newKey, oldExpiresAt), options);
  say(`Key ${id} works until ${toTime(oldExpiresAt)}.`);
}

async function revokeKey(store: Store, id: number): Promise<void> {
  await store.keys.revoke(id, Date.now());
  say(`Key ${id} is revoked: every running service refuses it within a second.`);
}

async function listKeys(store: Store, { json }: PrintOptions): Promise<void> {
  const keys = (await store.keys.list()).map(toPrintedKey);
  if (json) process.stdout.write(`${JSON.stringify(keys, null, 2)}\n`);
  else if (keys.length === 0) say('There is no key yet: make a key with keys create --name NAME.');
  else {
    const head = ['ID', 'NAME', 'ENVIRONMENT', 'MAY', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED'];
    const rows = keys.map((key) => Object.values(key).map((value) => String(value ?? '-')));
    process.stdout.write(await toTable([head, ...rows]));
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
function printNewKey(text: string, key: ApiKey, { json }: PrintOptions): void {
  const printed = json ? JSON.stringify({ key: text, ...toPrintedKey(key) }) : text;
  process.stdout.write(`${printed}\n`);
  const { id, name, environment, isReadOnly, expiresAt } = key;
  const rights = isReadOnly ? ', read-only' : '';
  const end = expiresAt === undefined ? 'never expires' : `expires at ${toTime(expiresAt)}`;
  say(`Key ${id} (${name}) for ${environment}${rights}, ${end}. It is shown only now.`);
}

function toTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+/, '');
}
