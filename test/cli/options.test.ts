/** The options of the command line: their variables, their bad values and their help. */

import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import { Command, type Option } from 'commander';
import { serveOptions } from '../../src/cli/options.ts';
import { createProgram } from '../../src/cli/run.ts';
import { SERVE_OPTIONS } from '../../src/service/serve-options.ts';
import { listCommands, parseLine, runCommand } from '../support/command.ts';
import { assertRefused } from '../support/program.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const cwd = createProcessFolder();

const OPTIONS = listOptions(createProgram());

function listOptions({ options, commands }: Command): Option[] {
  return [...options, ...commands.flatMap(listOptions)];
}

/** The option's value when a command with it alone is called so. */
function parse(option: Option, text: string): unknown {
  const command = new Command().addOption(option).exitOverride();
  command.configureOutput({ writeErr: () => undefined });
  const args = [`${option.long}=${text}`];
  return command.parse(args, { from: 'user' }).opts()[option.attributeName()];
}

/** The option of the first command that has it. */
function getOption(flag: string): Option {
  const option = OPTIONS.find(({ long }) => long === flag);
  assert.ok(option);
  return option;
}

const DAYS_100_YEARS = 36_500;

/** Options that are a whole number, with the least and the greatest. */
const COUNTS = [
  ['--database-connections', 1, 1_000],
  ['--port', 0, 65_535],
  ['--workers', 1, 256],
  ['--seed', 1, 10_000],
  ['--count', 0, 1_000_000_000],
  ['--keep', 1, 1_000_000],
  ['--limit', 1, 1_000],
  ['--max-connections', 1, 1_000_000],
  ['--rate-limit', 1, 1_000_000],
  ['--rate-limit-burst', 1, 1_000_000],
  ['--start-timeout', 0, 3_600],
  ['--admin-port', 0, 65_535],
] as const;

const BAD_BASE_URLS = [
  ...['', 'petstore.test/v1', 'ftp://petstore.test/v1', 'https://petstore.test/v1/'],
  ...['https://rex@petstore.test/v1', 'https://petstore.test/?a=/v1', 'https://petstore.test/#/v1'],
  'https://petstore.test/a b/v1',
];
const BAD_NETWORKS = ['', 'proxy.test', '10.0.0', '10.0.0.0/33', '0.0.0.0/0', '::1/129', '::1,'];

const REFUSED: readonly (readonly [flag: string, must: string, bad: readonly string[]])[] = [
  ...COUNTS.map(([flag, min, max]) => {
    return [flag, `from ${min} to ${max}`, [`${min - 1}`, `${max + 1}`]] as const;
  }),
  ['--port', 'from 0 to 65535', ['', '80.5', '0x50', ' 80', '1e3']],
  ['--workers', 'from 1 to 256', ['AUTO']],
  ['--database', 'sqlite:FILE', ['', 'petstore.db', 'sqlite:', 'mysql://db.test/pets']],
  [
    '--database-timeout',
    'a number of seconds from 0.2 to 60, such as 0.9',
    ['', '0.19', '60.001', '100', '1e1', '0.9s', '.9', ' 5'],
  ],
  ...['--host', '--admin-host'].map((flag) => {
    return [flag, 'an IP address or the name', ['', 'a b', 'a\x1bb', '*.test']] as const;
  }),
  ['--log-level', 'fatal, error, warn, info, debug, trace, silent', ['', 'Info', 'warning']],
  ['--environment', 'staging, production', ['', 'prod', 'Staging', 'staging ']],
  ['--base-url', 'ends in /v1', BAD_BASE_URLS],
  ['--cors-origin', 'https://shop.test', ['', 'shop.test', 'https://shop.test/', '*,']],
  ['--trust-proxy', '10.0.0.0/8', BAD_NETWORKS],
  ['--format', 'ndjson, jsonl, json, csv', ['', 'xml', 'CSV']],
  ...['--rehearse', '--retire-get-pet'].map((flag) => {
    return [flag, 'true or false', ['', 'yes', '1', 'TRUE']] as const;
  }),
  ['--name', '1 to 100 characters', ['', '   ', 'a\nb', 'a\u202eb', 'x'.repeat(101)]],
  ['--expires', '90d', ['', '0s', '90', 'd', '1.5h', '1w', '90days', `${DAYS_100_YEARS + 1}d`]],
  ['--overlap', '0s', ['', '24']],
];

for (const [flag, must, bad] of REFUSED) {
  for (const value of bad) {
    test(`options › ${flag} of ${JSON.stringify(value.slice(0, 40))} › is refused by its name`, () => {
      const isTold = ({ message }: Error) => message.includes(flag) && message.includes(must);
      assert.throws(() => parse(getOption(flag), value), isTold);
    });
  }
}

test('options › only what configures › has a variable, of its name', () => {
  const settings = OPTIONS.filter(({ envVar }) => envVar !== undefined);
  const toName = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  const names = [...Object.keys(SERVE_OPTIONS), 'from', 'to'].map(toName);
  assert.deepEqual(new Set(settings.map(({ envVar }) => envVar?.slice(9))), new Set(names));
  for (const { long, envVar } of settings) {
    assert.equal(envVar, `PETSTORE_${long?.slice(2).replaceAll('-', '_').toUpperCase()}`);
  }
});

const TAKEN: readonly (readonly [flag: string, value: string, expected: unknown])[] = [
  ['--database', 'sqlite:petstore.db', 'sqlite:petstore.db'],
  ...COUNTS.flatMap(([flag, min, max]) => [min, max].map((one) => [flag, `${one}`, one] as const)),
  ['--database-timeout', '0.2', 0.2],
  ['--database-timeout', '1.125', 1.125],
  ['--host', '*', '*'],
  ['--admin-host', '::1', '::1'],
  ['--log-level', 'silent', 'silent'],
  ['--environment', 'production', 'production'],
  ['--rehearse', 'true', true],
  ['--workers', 'auto', availableParallelism()],
  ...['https://petstore.test:443/v1', 'HTTPS://Petstore.test/v1'].map(
    (given) => ['--base-url', given, 'https://petstore.test/v1'] as const,
  ),
  ['--base-url', 'http://petstore.test:8080/shop/v1', 'http://petstore.test:8080/shop/v1'],
  ['--cors-origin', '*', ['*']],
  ['--cors-origin', 'https://a.test, http://b.test:81', ['https://a.test', 'http://b.test:81']],
  ['--trust-proxy', '10.0.0.0/8, 2001:DB8::/32,::1', ['10.0.0.0/8', '2001:DB8::/32', '::1']],
  ['--trust-proxy', '10.0.0.1/32,::1/128,0.0.0.0/1', ['10.0.0.1/32', '::1/128', '0.0.0.0/1']],
  ['--retire-get-pet', 'false', false],
  ['--name', 'x'.repeat(100), 'x'.repeat(100)],
  ['--name', 'می\u200cخواهم', 'می\u200cخواهم'],
  ['--expires', '90d', 7_776_000_000],
  ['--overlap', `${DAYS_100_YEARS}d`, 3_153_600_000_000],
];

for (const [flag, value, expected] of TAKEN) {
  test(`options › ${flag} of ${value.slice(0, 40)} › is taken`, () => {
    assert.deepEqual(parse(getOption(flag), value), expected);
  });
}

test('options › each of serve › has a value that is taken, and a value that is refused', () => {
  const isIn = (rows: typeof TAKEN | typeof REFUSED, flag = '') =>
    rows.some(([tried]) => tried === flag);
  const flags = serveOptions().map(({ long }) => long);
  const missing = flags.filter((flag) => !isIn(TAKEN, flag) || !isIn(REFUSED, flag));
  assert.deepEqual(missing, []);
});

/** Command lines that are wrong use, each with what is told. The variables of Kubernetes change nothing. */
const WRONG = `
PETSTORE_PORT=x serve --port 65536
  option '--port <port>' argument '65536' is invalid. It must be a whole number from 0 to 65535.
PETSTORE_PORT=65536 serve --environment production --seed 3
  option '--port <port>' value '65536' from env 'PETSTORE_PORT' is invalid. It must be a whole number from 0 to 65535.
PETSTORE_ENVIROMENT=production keys list
  unknown variable PETSTORE_ENVIROMENT: did you mean PETSTORE_ENVIRONMENT?
PETSTORE_NAME=shop PETSTORE_STATUS=sold pets add --category-id 3
  required option '--name <text>' not specified
PETSTORE_STATUS=sold pets add --name Rex --category-id 3
  unknown variable PETSTORE_STATUS: give --status to a command that takes it
npm_config_rate_limit_burst=true serve 9000
  npm took --rate-limit-burst, or .npmrc sets it: put -- before the options, such as npm start -- --port 9000, or remove it from .npmrc
npm_config_json=true pets get 07 --json
  Invalid pet id '07': expected a number such as 7.
npm_config_json=true npm_config_limit=true pets list --json --limit=x
  option '--limit <count>' argument 'x' is invalid. It must be a whole number from 1 to 1000.
PETSTORE_RATE_LIMIT_BURST=5 serve
  option '--rate-limit-burst <count>', or PETSTORE_RATE_LIMIT_BURST, needs --rate-limit
PETSTORE_PORT=tcp://10.0.0.1:80 PETSTORE_PORT_80_TCP_ADDR=10.0.0.1 PETSTORE_SERVICE_HOST=10.0.0.1 PETSTORE_SERVICE_PORT_HTTP=80 PETSTORE_CANARY_PORT=udp://10.0.0.2:80 PETSTORE_CANARY_SERVICE_PORT=80 serve --environment production --seed 3
  option '--seed', or PETSTORE_SEED, is only for staging
PETSTORE_TO=mysql://u:s3cr3t@h copy --from sqlite:a
  option '--to <address>', or PETSTORE_TO: the database must be sqlite:FILE, sqlite::memory: or postgres://USER:PASSWORD@HOST/NAME
PETSTORE_DATABASE=sqlite:shop.db\r keys list
  the value of PETSTORE_DATABASE has the invisible character U+000d, such as of a Windows line end: remove it
PETSTORE_DATABASE='sqlite:shop.db' keys list
  the value of PETSTORE_DATABASE begins with a quote, which docker --env-file keeps: remove it
keys create --name ci --database sqlite://rel.db
  option '--database <address>', or PETSTORE_DATABASE: sqlite://rel.db may mean two files: write sqlite:rel.db or sqlite:/rel.db
adopt
  unknown command 'adopt'
pets delete 7 --json
  unknown command 'delete' (Did you mean remove?)
serve --environment production --database sqlite::memory:
  sqlite::memory: is only for staging: no command can add a key to it
serve --environment production --rehearse
  option '--rehearse', or PETSTORE_REHEARSE, is only for staging
serve --workers 2 --database sqlite::memory:
  sqlite::memory: is for one process: --workers must be 1
keys create --name ci --database sqlite::memory:
  option '--database <address>', or PETSTORE_DATABASE: sqlite::memory: keeps nothing: name a file
pets export --excel --format json
  option '--excel' cannot be used with option '--format <format>'
pets add --name Rex --category-id 1.5
  option '--category-id <int64>': categoryId "1.5" must be a whole number from -9223372036854775808 to 9223372036854775807
pets update 7
  nothing to change: give one of --name, --category-id, --status, --no-status
`;

test('petstore › a file name that a terminal would act on › is told without it', async () => {
  const args = ['keys', 'list', '--database', 'sqlite:a\n\x1b[31m\u2028\u2029\u202e.db'];
  const { status, stderr } = await runCommand(args, { cwd });
  assert.equal(status, 1);
  assert.match(stderr, /^petstore: [^\p{Cc}\p{Zl}\p{Zp}\u202e]+\n$/u);
});

for (const [line, told = ''] of [
  ...WRONG.trim()
    .split(/\n(?=\S)/)
    .map((row) => row.split('\n  ')),
  ...['first', '0', '07', '9007199254740992'].map((id) => [
    `keys revoke ${id}`,
    `Invalid key id '${id}': expected a number such as 7.`,
  ]),
  ...['list --after', 'get', 'update --name Mia'].map((command) => [
    `pets ${command} 07`,
    "Invalid pet id '07': expected a number such as 7.",
  ]),
]) {
  test(`petstore › ${line} › exits with 2 and one line`, async () => {
    const { args, env } = parseLine(line ?? '');
    assertRefused(await runCommand(args, { cwd, env }), 2, told);
  });
}

for (const args of [[], ['keys'], ['pets']]) {
  test(`petstore › ${['petstore', ...args].join(' ')} without a command › exits with 2 and the help`, async () => {
    const { status, stdout, stderr } = await runCommand(args, { cwd });
    assert.deepEqual({ status, stdout }, { status: 2, stdout: '' });
    assert.match(stderr, /^Usage: petstore .*\n[\s\S]*\nCommands:\n/);
  });
}

for (const name of ['', ...listCommands(createProgram())]) {
  test(`petstore › ${name} --help › shows an example`, async () => {
    const { args } = parseLine(`${name} --help`.trim());
    const { status, stdout, stderr } = await runCommand(args, { cwd });
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    assert.ok(stdout.includes(`\nExamples:\n  petstore ${name}`), stdout);
  });
}

test('petstore › called wrongly › has made no file', async () => {
  assert.deepEqual(await readdir(cwd), []);
});
