/** How `npm start` and all other scripts come to their Node, on machines with an old one and odd ones. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { createProcessFolder } from '../support/temporary-folder.ts';

const LAUNCHER = fileURLToPath(new URL('../../runtime/node.cjs', import.meta.url));
const COMMAND = fileURLToPath(new URL('../../src/cli/bin.ts', import.meta.url));
const MS_MAX = 20_000;
/** What the launcher sees of a machine's own Node: its version, and that it cannot become another process. */
const OLD_NODE = `
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } });
  delete process.execve;
`;
const NEEDS_NODE =
  'petstore: this needs Node 24 or newer, and the machine has 18.20.4: install Node 24 or newer from https://nodejs.org\n';
const PACKAGE = `node-${process.platform}-${process.arch}`;

const folder = createProcessFolder();
writeFileSync(join(folder, 'old-node.cjs'), OLD_NODE);

function start(launcher: string, args: readonly string[], { isOld = false } = {}) {
  const preload = isOld ? ['--require', join(folder, 'old-node.cjs')] : [];
  const child = spawn(process.execPath, [...preload, launcher, ...args], {
    ...{ timeout: MS_MAX, killSignal: 'SIGKILL' },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = once(child, 'close').then(([status, signal]) => ({
    ...{ status, signal, stdout, stderr },
  }));
  return { child, ended };
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

const isPosix = process.platform !== 'win32';

for (const isOld of [false, true]) {
  const own = isOld ? 'the own Node 18' : 'the own Node 24 or newer';
  describe(`launcher on ${own}`, { skip: !isPosix && 'signals are those of POSIX' }, () => {
    test(`launcher › on ${own} › runs the pinned Node with the arguments as they are`, async () => {
      const script = 'console.log(process.version, process.argv.slice(1).join("|"))';
      const args = ['--eval', script, '--', 'a b', '$HOME', '--x'];
      const { status, stdout, stderr } = await start(LAUNCHER, args, { isOld }).ended;
      const packages = JSON.parse(
        await readFile(new URL('../../runtime/package.json', import.meta.url), 'utf8'),
      ).optionalDependencies;
      assert.equal(stdout, `v${packages[PACKAGE]} a b|$HOME|--x\n`);
      assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    });

    test(`launcher › on ${own}, the program ends with a status › so does the launcher`, async () => {
      const { status } = await start(LAUNCHER, ['--eval', 'process.exit(7)'], { isOld }).ended;
      assert.equal(status, 7);
    });

    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      test(`launcher › on ${own}, the program ends by ${signal} › so does the launcher`, async () => {
        const script = `process.kill(process.pid, '${signal}'); setInterval(() => {}, 1000)`;
        const ended = await start(LAUNCHER, ['--eval', script], { isOld }).ended;
        assert.equal(ended.signal, signal);
      });
    }

    test(`launcher › on ${own}, two signals › come through, each once`, async (t) => {
      const script = `
        let count = 0;
        for (const name of ['SIGTERM', 'SIGINT']) process.on(name, () => {
          console.log(name);
          count += 1;
          if (count === 2) setTimeout(() => process.exit(3), 100);
        });
        setInterval(() => {}, 1000);
        console.log('ready');
      `;
      const { child, ended } = start(LAUNCHER, ['--eval', script], { isOld });
      t.after(() => child.kill('SIGKILL'));
      await once(child.stdout ?? child, 'data');
      child.kill('SIGTERM');
      await once(child.stdout ?? child, 'data');
      child.kill('SIGINT');
      const { status, stdout } = await ended;
      assert.deepEqual({ status, stdout }, { status: 3, stdout: 'ready\nSIGTERM\nSIGINT\n' });
    });
  });
}

for (const [own, isOld, told] of [
  ['Node 18', true, { status: 1, stdout: '', stderr: NEEDS_NODE }],
  ['Node 24 or newer', false, { status: 0, stdout: `${manifest.version}\n`, stderr: '' }],
] as const) {
  test(`the command of the package › on ${own} › ${isOld ? 'says what to install' : 'runs'}`, async () => {
    const { status, stdout, stderr } = await start(COMMAND, ['--version'], { isOld }).ended;
    assert.deepEqual({ status, stdout, stderr }, told);
  });
}

describe('launcher without a pinned Node', {
  skip: !isPosix && 'its stand-ins are scripts',
}, () => {
  const print = ['--print', '"it runs"'];

  for (const [what, script] of [
    ['is not installed', undefined],
    ['does not start', '#!/bin/sh\nexit 127\n'],
    ['is for another system', '#!/nowhere/ld-linux\n'],
  ] as const) {
    test(`launcher › the pinned Node ${what}, the own is new › runs on the own`, async () => {
      const launcher = await createCheckout(`new, ${what}`, script);
      const { status, stdout, stderr } = await start(launcher, print).ended;
      assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: 'it runs\n', stderr: '' });
    });

    test(`launcher › the pinned Node ${what}, the own is old › says in one line what to install`, async () => {
      const launcher = await createCheckout(`old, ${what}`, script);
      const { status, stdout, stderr } = await start(launcher, print, { isOld: true }).ended;
      assert.deepEqual({ status, stdout }, { status: 1, stdout: '' });
      assert.match(
        stderr,
        /^petstore: this needs Node 24 or newer, and the machine has 18\.20\.4; [^\n]+ Install Node 24 or newer from \S+\n$/,
      );
      assert.match(stderr, script === undefined ? /run npm ci/ : /does not start/);
    });
  }
});
