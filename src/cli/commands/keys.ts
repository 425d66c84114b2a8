/** `petstore keys …`: creates, lists, revokes and rotates API keys. A key's text is printed once and stored nowhere. */

import type { Command } from 'commander';
import {
  type ApiKey,
  createApiKey,
  getKeyState,
  type KeyOptions,
  type NewApiKey,
} from '../../api-key.ts';
import { PetstoreError } from '../../error.ts';
import { checkEnvironment } from '../../service/environment.ts';
import type { Store } from '../../store.ts';
import {
  databaseOption,
  environmentOption,
  expiresOption,
  jsonOption,
  nameOption,
  overlapOption,
  parseKeyId,
  readOnlyOption,
} from '../options.ts';
import { examples, say, toTable } from '../output.ts';
import { type PrintOptions, type StoreOptions, withStore } from '../with-store.ts';

export function addKeys(program: Command): void {
  const keys = program
    .command('keys')
    .description('create, list, revoke and rotate API keys')
    .addHelpText('after', examples('petstore keys create --name ci', 'petstore keys list'));
  keys
    .command('create')
    .description('create a key and print it, this once')
    .addOption(nameOption())
    .addOption(expiresOption())
    .addOption(readOnlyOption())
    .addOption(environmentOption())
    .addOption(jsonOption())
    .addOption(databaseOption())
    .addHelpText('after', examples('petstore keys create --name ci --expires 90d'))
    .action((options: PrintOptions & KeyOptions) =>
      withStore(options, (store) => addKey(store, options), { create: true }),
    );
  keys
    .command('list')
    .description('list all keys, without their texts')
    .addOption(jsonOption())
    .addOption(databaseOption())
    .addHelpText('after', examples('petstore keys list --json'))
    .action((options: PrintOptions) => withStore(options, (store) => listKeys(store, options)));
  keys
    .command('revoke')
    .description('refuse a key, in every running service within a second')
    .argument('<id>', 'the id that keys list shows', parseKeyId)
    .addOption(databaseOption())
    .addHelpText('after', examples('petstore keys revoke 3'))
    .action((id: number, options: StoreOptions) =>
      withStore(options, (store) => revokeKey(store, id)),
    );
  keys
    .command('rotate')
    .description(
      'create a key with the name, rights and lifetime of another one, which still works for a while',
    )
    .argument('<id>', 'the id that keys list shows', parseKeyId)
    .addOption(overlapOption())
    .addOption(jsonOption())
    .addOption(databaseOption())
    .addHelpText('after', examples('petstore keys rotate 3 --overlap 24h'))
    .action((id: number, options: PrintOptions & { overlap: number }) =>
      withStore(options, (store) => rotateKey(store, id, options)),
    );
}

async function addKey(store: Store, options: PrintOptions & KeyOptions): Promise<void> {
  await checkEnvironment(store, options);
  await printAndKeep(options, options, Date.now(), (newKey) => store.keys.add(newKey));
}

async function rotateKey(
  store: Store,
  id: number,
  options: PrintOptions & { overlap: number },
): Promise<void> {
  const now = Date.now();
  const old = (await store.keys.list()).find((key) => key.id === id);
  if (old === undefined) throw new PetstoreError('not_found', `there is no key ${id}`);
  const state = getKeyState(old, now);
  if (state !== 'active') {
    throw new PetstoreError('gone', `key ${id} is ${state}: make a new one with keys create`);
  }
  if (old.rotatedAt !== undefined) {
    throw new PetstoreError('gone', `key ${id} was rotated already: rotate the one made then`);
  }
  const { name, environment, isReadOnly: readOnly = false, createdAt, expiresAt } = old;
  const oldExpiresAt = now + options.overlap;
  const lifetime = expiresAt === undefined ? {} : { expires: expiresAt - createdAt };
  await printAndKeep(options, { name, environment, readOnly, ...lifetime }, now, (newKey) =>
    store.keys.rotate(id, newKey, oldExpiresAt),
  );
  say(`Key ${id} works until ${toTime(Math.min(oldExpiresAt, expiresAt ?? oldExpiresAt))}.`);
}

async function revokeKey(store: Store, id: number): Promise<void> {
  await store.keys.revoke(id, Date.now());
  say(`Key ${id} is revoked: every running service refuses it within a second.`);
}

async function listKeys(store: Store, { json }: PrintOptions): Promise<void> {
  const now = Date.now();
  const keys = (await store.keys.list()).map((key) => toRow(key, now));
  if (json) process.stdout.write(`${JSON.stringify(keys, null, 2)}\n`);
  else if (keys.length === 0) say('There is no key yet: make one with keys create --name NAME.');
  else {
    const head = ['ID', 'NAME', 'ENVIRONMENT', 'MAY', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED'];
    const rows = keys.map((key) => Object.values(key).map((value) => String(value ?? '-')));
    process.stdout.write(await toTable([head, ...rows]));
  }
}

function toRow(key: ApiKey, now: number) {
  return {
    id: key.id,
    name: key.name,
    environment: key.environment,
    may: key.isReadOnly ? 'read' : 'read and add',
    state: getKeyState(key, now),
    created: toTime(key.createdAt),
    expires: key.expiresAt === undefined ? null : toTime(key.expiresAt),
    lastUsed: key.lastUsedAt === undefined ? null : toTime(key.lastUsedAt),
  };
}

/**
 * The key alone on standard output, so that a script can read it; with `--json` the first member of an
 * object. It is printed before it is stored: a key that could not be printed must not work.
 */
async function printAndKeep(
  { json }: PrintOptions,
  options: KeyOptions,
  now: number,
  keep: (newKey: NewApiKey) => Promise<ApiKey>,
): Promise<void> {
  const { text, newKey } = createApiKey(options, now);
  await new Promise<void>((resolve, reject) => {
    const printed = json ? `{"key":"${text}"` : `${text}\n`;
    process.stdout.write(printed, (error) => (error ? reject(error) : resolve()));
  });
  const key = await keep(newKey);
  if (json) process.stdout.write(`,${JSON.stringify(toRow(key, now)).slice(1)}\n`);
  const { id, name, environment, isReadOnly, expiresAt } = key;
  const rights = isReadOnly ? ', read-only' : '';
  const end = expiresAt === undefined ? 'never expires' : `expires at ${toTime(expiresAt)}`;
  say(`Key ${id} (${name}) for ${environment}${rights}, ${end}. It is shown only now.`);
}

function toTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+/, '');
}
