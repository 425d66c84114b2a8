/** The table of all commands: what each writes, and how that is seen. Tests go through every end of each. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../../src/storage/open.ts';
import { createNewKey, repeat } from '../storage/contract/data.ts';
import { runCommand } from '../support/command.ts';
import { createOlderStore } from '../support/older-store.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

/** By default it has 2 pets and a key. */
type Before = 'empty' | 'older' | 'none';
/** What a command that writes to a store is given, and what it tells to look for if its end is not known. */
type Write = [args: string, look: string, ifDone: RegExp, ifNot: RegExp, store?: Before];
/** What a command that writes a file is given, and the word for what was not done. */
type File = [args: string, verb: string];

const COPY = '--from sqlite:from.db --to STORE';
const COPIED = [`copy ${COPY}`, /is not empty/, /copied 2/] as const;
const NEW_KEY = '--name new --environment staging';
const LISTED = ['keys list', /new/, /^((?!new).)*$/s] as const;

/** Each command, and whether it writes. STORE is the address of the store. */
export const ENDS: Readonly<Record<string, { writes?: Write[]; files?: File[] }>> = {
  // Its ends are in test/e2e/stop.test.ts and test/e2e/kill.test.ts.
  serve: {},
  'keys create': {
    writes: [
      [NEW_KEY, ...LISTED],
      [NEW_KEY, ...LISTED, 'none'],
    ],
  },
  'keys list': {},
  'keys revoke': { writes: [['1', 'keys list', /revoked/, /active/]] },
  'keys rotate': { writes: [['1', 'keys list', /^[2-9] +ci/m, /^1 +ci.*\n(?![2-9])/m]] },
  'pets list': {},
  'pets get': {},
  'pets add': { writes: [['--name Mia --category-id 1', 'pets export', /Mia/, /^((?!Mia).)*$/s]] },
  'pets update': { writes: [['1 --name Mia', 'pets get 1', /Mia/, /Rex 0/]] },
  'pets remove': {
    writes: [['1 --json', 'pets remove 1 --dry-run', /no pet 1\n/, /would be .+: 1 pet/]],
  },
  'pets import': {
    writes: [
      ['new.csv', 'pets list --after 2', /^4 +Zoë/m, /No pets/],
      ['new.csv', 'pets list --after 0', /^2 +Zoë/m, /No pets|there is no /, 'none'],
      ['old.csv --update --json', 'pets import old.csv --update --dry-run', /0 corr/, /1 corr/],
      ['ids.csv --by-id', 'pets import ids.csv --by-id --dry-run', / 1 added/, /2 added/],
    ],
  },
  'pets export': { files: [['pets.csv', 'exported']] },
  // It has no store.
  'pets generate': {},
  backup: {
    files: [
      ['copy.db', 'copied'],
      ['--keep 2 .', 'copied'],
    ],
  },
  copy: {
    writes: [
      [COPY, ...COPIED, 'empty'],
      [COPY, ...COPIED, 'none'],
    ],
    files: [['--from STORE --to sqlite:copy.db', 'copied']],
  },
  migrate: { writes: [['', 'migrate --dry-run', /nothing to migrate/, /Would migrate/, 'older']] },
  openapi: {},
};

/** A command on its store. One that writes a file has nothing to look for. */
export interface Row {
  readonly title: string;
  readonly command: string;
  readonly store?: Before | undefined;
  readonly look: string;
  /** What it tells if its end is not known, or if no file was written. */
  readonly told: RegExp;
  readonly ifDone: RegExp;
  readonly ifNot: RegExp;
}

const NOT_KNOWN =
  /it is not known whether anything was \w+: when the database confirms writes again, in the same store, /;
const NO_FILE = /^$/;
const ROWS = Object.entries(ENDS);
export const WRITES: readonly Row[] = ROWS.flatMap(([name, { writes = [] }]) =>
  writes.map(([args, look, ifDone, ifNot, store]) => {
    const command = `${name} ${args}`.trim();
    const title = store === 'none' ? `${command}, a new store` : command;
    const words = look
      .replace(/ 1$/, '')
      .replace(' 1 ', ' IDS ')
      .replace(/\S+\.csv/, 'FILE');
    const again = command.startsWith('migrate') && 'the same command says that nothing is left';
    const copy =
      command.startsWith('copy') && 'the same command again is refused, as not empty or locked,';
    const phrase = again || copy || words;
    const told = new RegExp(`${NOT_KNOWN.source}.*${phrase}.*\\n$`);
    return { title, command, store, look, told, ifDone, ifNot };
  }),
);
export const FILES: readonly Row[] = ROWS.flatMap(([name, { files = [] }]) =>
  files.map(([args, verb]) => {
    const command = `${name} ${args}`;
    const told = new RegExp(`^(?:stopped|petstore): .*nothing was ${verb}\\n$`);
    return { title: command, command, look: '', told, ifDone: NO_FILE, ifNot: NO_FILE };
  }),
);

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** One way leads from each of the signals to the end of a command: so the commands share them. */
export const getSignal = (index: number) => SIGNALS[index % SIGNALS.length] ?? 'SIGINT';

/** Makes the store of a command, and a folder with its files. */
export async function prepare({ store, command }: Row, address: string): Promise<string> {
  const cwd = createProcessFolder();
  writeFileSync(join(cwd, 'new.csv'), 'name,categoryId\nMia,1\nZoë,2\n');
  writeFileSync(join(cwd, 'old.csv'), 'id,name,categoryId,status\n1,Tom,1,\n,Mia,1,\n');
  writeFileSync(join(cwd, 'ids.csv'), 'id,name,categoryId\n5,Tom,1\n,Mia,1\n');
  if (store === 'older') await createOlderStore(address);
  if (store === 'empty') await (await openStore(address, { create: true })).close();
  const filled = command.includes('from.db') ? `sqlite:${cwd}/from.db` : address;
  if (store === undefined || filled !== address) {
    await using opened = await openStore(filled, { create: true });
    await opened.pets.merge(repeat(2));
    await opened.keys.add(createNewKey());
  }
  return cwd;
}

export const toArgs = (command: string, address: string) =>
  command.replace('STORE', address).split(' ');

export async function see(command: string, cwd: string, address: string): Promise<string> {
  const options = { cwd, env: { PETSTORE_DATABASE: address } };
  const { stdout, stderr } = await runCommand(toArgs(command, address), options);
  return stdout + stderr;
}
