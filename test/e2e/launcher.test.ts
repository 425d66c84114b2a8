/** How `npm start` and all other scripts come to their Node, on machines with an old one and odd ones. */

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { HANG_MS } from '../support/hang.ts';
import { createProcessFolder } from '../support/temporary-folder.ts';

const LAUNCHER = fileURLToPath(new URL('../../runtime/node.cjs', import.meta.url));
const LIMIT = { timeout: HANG_MS, killSignal: 'SIGKILL' } as const;
/** What the launcher sees of a machine's own Node: its version, and that it cannot become another process. */
const OLD_NODE = `
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } });
  delete process.execve;
`;
const PACKAGE = `node-${process.platform}-${process.arch}`;

const folder = createProcessFolder();
writeFileSync(join(folder, 'old-node.cjs'), OLD_NODE);

const toArgs = (launcher: string, args: readonly string[], isOld: boolean) => [
  ...(isOld ? ['--require', join(folder, 'old-node.cjs')] : []),
  ...[launcher, ...args],
];

function run(launcher: string, args: readonly string[], isOld = false) {
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    toArgs(launcher, args, isOld),
    { ...LIMIT, encoding: 'utf8' },
  );
  return { status: signal ?? status, stdout, stderr };
}

/** A checkout in which npm installed that script in the place of the binary, or nothing. */
async function createCheckout(name: string, script?: string): Promise<string> {
  const checkout = join(folder, name);
  const bin = join(checkout, 'node_modules', PACKAGE, 'bin');
  await mkdir(join(checkout, 'runtime'), { recursive: true });
  await copyFile(LAUNCHER, join(checkout, 'runtime/node.cjs'));
  if (script !== undefined) {
    await mkdir(bin, { recursive: true });
    await writeFile(join(bin, '../package.json'), '{}');
    await writeFile(join(bin, 'node'), script);
    await chmod(join(bin, 'node'), 0o755);
  }
  return join(checkout, 'runtime/node.cjs');
}

const NO_POSIX = process.platform === 'win32' && 'its signals and stand-ins are those of POSIX';

for (const isOld of [false, true]) {
  const own = isOld ? 'the own Node 18' : 'the own Node 24 or newer';
  test(`launcher › on ${own} › runs the pinned Node with the arguments as they are`, {
    skip: NO_POSIX,
  }, async () => {
    const script =
      'console.log(process.version, process.argv.slice(1).join("|")); process.exitCode = 7';
    const args = ['--eval', script, '--', 'a b', '$HOME', '--x'];
    const packages = JSON.parse(
      await readFile(new URL('../../runtime/package.json', import.meta.url), 'utf8'),
    ).optionalDependencies;
    const stdout = `v${packages[PACKAGE]} a b|$HOME|--x\n`;
    assert.deepEqual(run(LAUNCHER, args, isOld), { status: 7, stdout, stderr: '' });
  });
}

// On a newer Node the launcher becomes the program, and nothing is left to pass on.
describe('launcher on the own Node 18', { skip: NO_POSIX }, () => {
  for (const end of ['SIGTERM', 'SIGKILL']) {
    test(`launcher › the program ends by ${end} › so does the launcher`, () => {
      const script = `process.kill(process.pid, '${end}'); setInterval(() => {}, 1000)`;
      assert.equal(run(LAUNCHER, ['--eval', script], true).status, end);
    });
  }

  test('launcher › two signals › come through, each once', async () => {
    const script = `
      for (const name of ['SIGTERM', 'SIGINT']) process.on(name, () => console.log(name));
      process.on('SIGHUP', () => process.exit(3));
      setInterval(() => {}, 1000);
      console.log('ready');
    `;
    const child = spawn(process.execPath, toArgs(LAUNCHER, ['--eval', script], true), LIMIT);
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      await once(child.stdout, 'data');
      child.kill(signal);
    }
    const [status] = await once(child, 'close');
    assert.deepEqual({ status, stdout }, { status: 3, stdout: 'ready\nSIGTERM\nSIGINT\n' });
  });
});

for (const [what, script] of [
  ['is not installed', undefined],
  ['does not start', '#!/bin/sh\nexit 127\n'],
  ['is for another system', '#!/nowhere/ld-linux\n'],
] as const) {
  test(`launcher › the pinned Node ${what} › runs on the own, or says in one line what to install`, {
    skip: NO_POSIX,
  }, async () => {
    const launcher = await createCheckout(what, script);
    const print = ['--print', '"it runs"'];
    const printed = { status: 0, stdout: 'it runs\n', stderr: '' };
    assert.deepEqual(run(launcher, print), printed);
    const { status, stdout, stderr } = run(launcher, print, true);
    assert.deepEqual({ status, stdout }, { status: 1, stdout: '' });
    assert.match(
      stderr,
      /^petstore: this needs Node 24 or newer, and the machine has 18\.20\.4; [^\n]+ Install Node 24 or newer from \S+\n$/,
    );
    assert.match(stderr, script === undefined ? /run npm ci/ : /does not start/);
  });
}
