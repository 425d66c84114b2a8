#!/usr/bin/env bash
# Follows the README to the letter in an archive of the project: its first command, its requests, and Ctrl-C. It prints
# the times. Usage: git archive HEAD | scripts/first-command.sh
# It needs npm, Linux, and port 8080 free.
set -euo pipefail

# What the first command may download.
MEGABYTES_MAX=70

folder=$(mktemp -d)
trap '[ -z "${group:-}" ] || kill -KILL -- "-$group" 2>/dev/null || true; rm -rf "$folder"' EXIT
tar x -C "$folder"
cd "$folder"
seconds() { date +%s.%N; }
since() { awk "BEGIN { printf \"%.1f s\", $(seconds) - $1 }"; }

began=$(seconds)
export npm_config_cache=$folder/.cache/npm
npm ci --omit=dev >npm-ci.log
echo "npm ci --omit=dev took $(since "$began"), $(du -sm node_modules | cut -f1) MB on the disk"
megabytes=$(du -sm --apparent-size "$npm_config_cache/_cacache" | cut -f1)
echo "npm downloaded $megabytes MB"
[ "$megabytes" -le "$MEGABYTES_MAX" ] || { echo "more than $MEGABYTES_MAX MB"; exit 1; }

# With `-m` a job has a process group of its own, and Ctrl-C reaches this group.
set -m +b
began=$(seconds)
: >start.log
npm start >start.log 2>&1 &
group=$!
until grep -q 'curl -H' start.log; do
  kill -0 "$group" 2>/dev/null || { cat start.log; exit 1; }
  sleep 0.05
done
echo "npm start answered after $(since "$began")"
key=$(sed -nE "s/.*Bearer ([^']+).*/\1/p" start.log)
node runtime/node.cjs --eval "
  import('./test/support/curl.ts').then(async ({ assertReadme }) => {
    console.log(await assertReadme('http://127.0.0.1:8080', '$key'), 'requests of the README are answered as it says');
  });"
kill -INT -- "-$group"
began=$(seconds)
while (exec 3<>/dev/tcp/127.0.0.1/8080) 2>/dev/null; do sleep 0.02; done
wait "$group" || true
group=
echo "Ctrl-C ended it after $(since "$began")"
# npm repeats the command, which has an option about warnings.
! grep -v '^> ' start.log | grep -iE 'warn|error'
