#!/usr/bin/env bash
# Proves the README's two commands on a machine that never saw the project: a minimal Debian 12 with
# nothing but npm and ca-certificates (Node 18, npm 9, no curl, no git, no browser, no PostgreSQL, no
# name `localhost`), as a plain user; then with Node 20 and npm 9, 10 and 11, and with Node 24 of its own;
# then the package on Nodes that are too old for it. It takes what is committed, and prints the times.
#
# Usage: scripts/fresh-machine.sh
# It needs root, git, debootstrap, 3 GB of disk, and port 8080 free.
set -euo pipefail
cd "$(dirname "$0")/.."

NODE_20=20.20.2
NODE_22=22.23.3
NODE_24=24.21.0

root=$(mktemp -d)
chmod 755 "$root"
trap 'rm -rf --one-file-system "$root"' EXIT

say() {
  printf -- '--- %s (at %d s)\n' "$*" "$SECONDS"
}

fail() {
  printf 'fresh-machine: %s\n' "$1" >&2
  exit 1
}

# A user of the new machine runs a script. Its processes are in a namespace of their own, so none
# outlives it. It takes the registry and the certificates of this machine's npm, and nothing else.
ann() {
  unshare --mount --pid --fork --kill-child --root="$root" --mount-proc --wd=/home/ann \
    setpriv --reuid=1000 --regid=1000 --clear-groups \
    env --ignore-environment HOME=/home/ann PATH="${path:-/usr/bin:/bin}" "${from_npm[@]}" \
    bash -euc "$1"
}

# Unpacks what is committed into an empty folder, and goes there.
fresh='rm -rf petstore; mkdir petstore; tar xf /petstore.tar -C petstore; cd petstore'

from_npm=()
for name in registry cafile; do
  value=$(npm config get "$name" 2>/dev/null)
  [ "$value" = null ] || from_npm+=("npm_config_$name=$value")
done

say 'a minimal Debian'
debootstrap --variant=minbase bookworm "$root" >"$root.log" 2>&1 || { cat "$root.log"; exit 1; }
rm "$root.log"
cp /etc/resolv.conf "$root/etc/"
debian() {
  chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" >"$root/apt.log" 2>&1 ||
    { cat "$root/apt.log"; exit 1; }
}
debian update
debian install --yes --no-install-recommends npm ca-certificates
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
chroot "$root" useradd --create-home --uid 1000 ann
git archive --output="$root/petstore.tar" HEAD
cp scripts/first-command.sh "$root/"
ann 'echo "Node $(node --version), npm $(npm --version)"
for tool in curl git chromium psql pgrep; do
  if command -v "$tool"; then echo "this machine is not minimal"; exit 1; fi
done'

say 'npm ci --omit=dev && npm start'
ann '/first-command.sh </petstore.tar'
say 'npm ci && npm test && npm run suite browser'
ann "$fresh; npm ci >npm-ci.log
status=0
{ npm test && npm run suite browser; } >test.log 2>&1 || status=\$?
grep -E '^ℹ (tests|pass|fail|skipped)|^There is no|# SKIP|﹣|^test at' test.log
[ \$status = 0 ] || { sed -n '/failing tests:/,\$p' test.log; exit 1; }"
say 'a machine with curl'
debian install --yes --no-install-recommends curl
ann '/first-command.sh </petstore.tar'

say "Node $NODE_20 with npm 9, 10 and 11"
arch=$(ann 'node --print process.arch')
ann "mkdir tools && cd tools && npm install --loglevel=error --no-audit --no-fund \
  node-20@npm:node-linux-$arch@$NODE_20 node-22@npm:node-linux-$arch@$NODE_22 node-24@npm:node-linux-$arch@$NODE_24 \
  npm-9@npm:npm@9 npm-10@npm:npm@10 npm-11@npm:npm@11"
tools=/home/ann/tools
for npm in 9 10 11; do
  ann "printf '#!/bin/sh\nexec node $tools/node_modules/npm-$npm/bin/npm-cli.js \"\$@\"\n' >tools/npm
    chmod +x tools/npm"
  path=$tools:$tools/node_modules/node-20/bin:/usr/bin:/bin
  ann "echo \"Node \$(node --version), npm \$(npm --version)\"; /first-command.sh </petstore.tar"
done
path=

say 'the package on Nodes that are too old for it'
ann "$fresh; npm ci >/dev/null; npm run build >/dev/null
mkdir ~/package && cd ~/package && npm install --loglevel=error --no-audit --no-fund ~/petstore/petstore-[0-9]*.tgz"
for bin in /usr/bin $tools/node_modules/node-20/bin $tools/node_modules/node-22/bin; do
  path=$bin:/usr/bin:/bin
  for argument in --version --help serve; do
    said=$(ann "package/node_modules/.bin/petstore $argument 2>&1 || echo \"status \$?\"")
    printf '%s\n' "$said"
    [[ $said =~ ^petstore:\ this\ needs\ Node\ 24\ or\ newer,\ and\ the\ machine\ has\ [0-9.]+:\ [^$'\n']+$'\n'status\ 1$ ]] ||
      fail "petstore $argument does not say in one line that it needs a newer Node"
  done
done
say 'both commands work on a fresh machine'
