#!/usr/bin/env bash
# Builds deploy/Dockerfile and runs its image as deploy/compose.yaml does: as the user of the image, on a
# read-only root, without capabilities; the store is on a volume and outlives the container. Then under any
# user id with the group root, on SQLite and PostgreSQL. No registry of images is asked: the base image is a minimal Debian with the Node of this checkout and npm.
#
# Usage: scripts/check-container.sh        needs root, podman, runc, catatonit, debootstrap, postgresql, 3 GB of disk
set -euo pipefail
cd "$(dirname "$0")/.."

NPM=11.11.0

folder=$(mktemp -d)
export CONTAINERS_CONF=$folder/containers.conf
# No network is made, and no limit is raised, which not every machine allows.
cat >"$CONTAINERS_CONF" <<'CONF'
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
log_driver = "k8s-file"
netns = "none"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
lock_type = "file"
runtime = "runc"
CONF

say() {
  printf -- '--- %s (at %d s)\n' "$*" "$SECONDS"
}

fail() {
  printf 'check-container: %s\n' "$1" >&2
  exit 1
}

expect() {
  [ "$2" = "$3" ] || fail "$1 should be: $3, is: $2"
}

podman() {
  # Without systemd it reports the timers of health checks, which none of these containers has.
  command podman --log-level fatal --root "$folder/storage" --runroot "$folder/run" \
    --tmpdir "$folder/tmp" "$@"
}

cleanup() {
  podman rm --all --force --time 0 >/dev/null 2>&1 || true
  # What a build that was interrupted has left mounted.
  { grep -o " $folder/[^ ]*" /proc/mounts || true; } | sort -r | xargs -r umount
  rm -rf --one-file-system "$folder"
}
trap cleanup EXIT

say 'a base image'
base=$folder/base
debootstrap --variant=minbase bookworm "$base" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
node=$(npm run --silent node -- --print process.execPath)
cp "$node" "$base/usr/local/bin/node"
npm install --global --prefix "$base/usr/local" --loglevel=error --no-audit --no-fund "npm@$NPM"
chroot "$base" useradd --create-home --uid 1000 node
# It takes the registry and the certificates of this machine's npm, in the configuration that --prefix keeps.
mkdir -p "$base/etc/ssl/certs"
for name in registry cafile; do
  value=$(npm config get "$name" 2>/dev/null)
  [ "$value" = null ] || echo "$name=$value" >>"$base/usr/local/lib/node_modules/npm/npmrc"
done
cp /etc/ssl/certs/ca-certificates.crt "$base/etc/ssl/certs/"
tar --create --directory "$base" --one-file-system . | podman import --quiet - base >/dev/null
rm -rf --one-file-system "$base"

say 'deploy/Dockerfile'
podman build --format docker --isolation chroot --network host \
  --build-arg NODE_IMAGE=localhost/base --file deploy/Dockerfile --tag petstore . >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }

# As in compose.yaml, with the variables of env.example. Whoever is in the container alone reaches it.
start() {
  podman run --detach --name petstore --read-only --read-only-tmpfs=false --cap-drop all \
    --security-opt no-new-privileges --env-file deploy/env.example --health-interval disable \
    "$@" petstore >/dev/null
  for _ in {1..300}; do
    podman healthcheck run petstore >/dev/null 2>&1 && return
    sleep 0.1
  done
  podman logs petstore
  fail 'it is not healthy'
}

stop() {
  podman stop --time 15 petstore >/dev/null
  expect 'the exit status after SIGTERM' "$(podman inspect --format '{{.State.ExitCode}}' petstore)" 0
  podman rm petstore >/dev/null
}

# By another address than 127.0.0.1: others than the container itself must reach it.
ask() {
  podman exec --env "KEY=$key" petstore node --input-type=module --eval "
    const headers = { authorization: 'Bearer ' + process.env.KEY, 'content-type': 'application/json' };
    const answer = await fetch('http://127.0.0.2:' + (process.env.PETSTORE_PORT ?? 8080) + '/v1/pets', { headers, ...$1 });
    console.log(answer.status, await answer.text());"
}

# Makes the first key of an empty store, and adds its first pet.
pet='{"id":1,"name":"Rex","categoryId":3}'
begin() {
  key=$(podman exec petstore petstore keys create --name check)
  [[ $key =~ ^petstore_prod_[0-9A-Za-z]{36}$ ]] || fail 'keys create prints no key of production'
  expect 'POST /v1/pets' "$(ask "{ method: 'POST', body: '{\"name\":\"Rex\",\"categoryId\":3}' }")" "201 $pet"
}

expect_user() {
  status=$(podman exec petstore cat /proc/self/status)
  expect 'its user' "$(awk '/^Uid:/ { print $2 }' <<<"$status")" "$1"
  expect 'its capabilities' "$(awk '/^CapBnd:/ { print $2 }' <<<"$status")" 0000000000000000
  if podman exec petstore touch /opt/petstore/file 2>/dev/null; then fail 'its root can be written'; fi
}

say 'a first start'
volume=(--volume petstore:/var/lib/petstore)
start --init "${volume[@]}"
expect_user 1000
begin
stop

say 'a second one on its volume, as process 1'
start "${volume[@]}"
expect 'GET /v1/pets' "$(ask '{}')" "200 [$pet]"
stop

# As OpenShift does, whose volumes belong to the group.
uid=$((1000000000 + RANDOM))
say "the user id $uid, on SQLite"
mkdir --mode 2770 "$folder/volume"
for round in first second; do
  start --init --user "$uid:0" --volume "$folder/volume:/var/lib/petstore"
  expect_user "$uid"
  [ "$round" = second ] || begin
  expect 'GET /v1/pets' "$(ask '{}')" "200 [$pet]"
  stop
done

say "the user id $uid, on PostgreSQL"
coproc postgres { "$node" --input-type=module --eval "
  import { startCluster } from '$PWD/test/support/postgres-cluster.ts';
  import { getFreePort } from '$PWD/test/support/socket.ts';
  await using cluster = await startCluster();
  console.log(cluster.url(), await getFreePort());
  for await (const _ of process.stdin);"; }
read -r database port <&"${postgres[0]}"
start --init --user "$uid:0" --network host --env "PETSTORE_DATABASE=$database" --env "PETSTORE_PORT=$port"
expect_user "$uid"
begin
stop
say 'the image works'
