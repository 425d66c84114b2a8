#!/usr/bin/env bash
# Follows docs/one-machine.md, and the first commands of docs/troubleshooting.md, to the letter on a minimal Debian that
# systemd has booted, in a container of systemd-nspawn, and asks the service after each part. Only the download of Node
# is replaced: its file is the Node of this checkout. It takes what is committed.
#
# Usage: scripts/check-one-machine.sh [bookworm|trixie]
# It needs root, git, debootstrap, systemd-container, 3 GB of disk, and ports 80, 443 and 8080 free.
set -euo pipefail
cd "$(dirname "$0")/.."

root=$(mktemp -d)
chmod 755 "$root"
trap 'rm -rf --one-file-system "$root"' EXIT

echo '--- a minimal Debian'
debootstrap --variant=minbase --include=systemd-sysv "${1:-bookworm}" "$root" >"$root.log" 2>&1 ||
  { cat "$root.log"; exit 1; }
rm "$root.log"
for tool in curl npm node nginx openssl; do
  [ ! -e "$root/usr/bin/$tool" ] || { echo "this machine is not minimal: it has $tool"; exit 1; }
done

echo '--- the files that somebody downloads'
work=$root/root
node=$(npm run --silent node -- --print process.execPath)
name=node-$("$node" --version)-linux-x64
mkdir -p "$work/nodejs/$name/bin"
cp "$node" "$work/nodejs/$name/bin/node"
(cd "$work/nodejs" && tar --create --gzip --file "$name.tar.gz" --remove-files "$name" &&
  sha256sum "$name.tar.gz" >SHASUMS256.txt)
git archive --prefix=checkout/ HEAD | tar --extract --directory "$work"
(cd "$work/checkout" && npm ci --ignore-scripts --loglevel=error --no-audit --no-fund && npm run --silent build >/dev/null)
mv "$work"/checkout/petstore-[0-9]*.tgz "$work/"

# Behind each part of the page, what the operator sees.
cat >"$work/steps.sh" <<'STEPS'
set -euo pipefail
# The commands of a page of docs/.
read_blocks() {
  mapfile -d '' -t blocks < <(awk '/^```sh$/ { open = 1; next } /^```$/ && open { open = 0; printf "%c", 0 } open' "checkout/$1")
}
read_blocks docs/one-machine.md
# What the page shows below a block.
mapfile -d '' -t shown < <(awk '/^```sh$/ { open = 1; next }
  /^```$/ { if (open) open = 0; else { show = !show; if (!show) printf "%c", 0 }; next } show' checkout/docs/one-machine.md)
curl() {
  if [[ $* = *nodejs.org* ]]; then cp nodejs/* .; else command curl --silent --show-error --fail "$@"; fi
}
fail() { echo "check-one-machine: $1"; exit 1; }
# Each block as it stands, in this shell.
follow() {
  echo "--- $1"
  eval "${blocks[0]:-fail 'the page has too few blocks'}"
  blocks=("${blocks[@]:1}")
}
# As an operator pastes the next block, but this command fails.
fail_at() {
  echo "--- $1 fails"
  (eval "$1() { return 1; }; ${blocks[0]}") || true
}
# As `follow`, and compares what the block prints with what the page shows.
compare() {
  follow "$1" >~/printed.log 2>&1
  expect "what $1 prints" "$(sed -E '1d; /^(curl|Warning):/d; s/^New store/Store/; s/(petstore_prod_)\w+/\1…/' ~/printed.log)" \
    "${shown[0]%$'\n'}"
  shown=("${shown[@]:1}")
}
pets() {
  command curl --silent --show-error --fail --retry 20 --retry-connrefused --retry-delay 1 --max-time 60 \
    --header "Authorization: Bearer $KEY" "$@"
}
expect() { [ "$2" = "$3" ] || fail "$1 should be: $3, is: $2"; }
rex='{"id":1,"name":"Rex","categoryId":3}'

follow 'Node'
follow 'the package'
follow 'the units'
compare 'the first key and request'

# As the page says, but without a question.
apt-get install --yes --no-install-recommends openssl >apt.log 2>&1
first=$(grep --only-matching 'apt-get install nginx[^`]*' checkout/docs/one-machine.md)
eval "${first/install/install --yes --no-install-recommends}" >>apt.log 2>&1
! (: </dev/tcp/127.0.0.1/80) 2>/dev/null || fail 'certbot finds port 80 in use'
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=pets.example.com \
  -addext subjectAltName=DNS:pets.example.com -keyout /etc/nginx/tls.key -out /etc/nginx/tls.crt 2>/dev/null
follow 'TLS'
expect 'the pets by TLS' "$(pets --cacert /etc/nginx/tls.crt --connect-to pets.example.com:443:127.0.0.1:443 \
  https://pets.example.com/v1/pets)" "[$rex]"

second=$(grep --only-matching 'apt-get install [^`]*prometheus' checkout/docs/one-machine.md)
eval "${second/install/install --yes}" >>apt.log 2>&1
follow 'monitoring'
for _ in {1..60}; do
  scraped=$(curl --get --data-urlencode 'query=petstore_build_info' http://127.0.0.1:9090/api/v1/query || true)
  [[ $scraped != *'"version":"2.0.0"'* ]] || break
  sleep 1
done
[[ $scraped = *'"version":"2.0.0"'* ]] || fail "Prometheus has not read the petstore: $scraped"
for address in $(hostname --all-ip-addresses); do
  ! (: <"/dev/tcp/$address/9090") 2>/dev/null || fail "Prometheus listens on $address"
done
! (: </dev/tcp/127.0.0.1/9100) 2>/dev/null || fail 'the exporter of the machine was installed too'

url=http://127.0.0.1:8080/v1/pets
compare 'a backup, and a drill'
pets --json '{"name":"Mia","categoryId":3}' "$url"
fail_at runuser
! systemctl is-active --quiet petstore || fail 'it starts without the restored store'
follow 'a restore'
expect 'the pets of the backup' "$(pets "$url")" "[$rex]"
ls lost.*/petstore.db

(
  cd
  mkdir newer
  tar --extract --file petstore-2.0.0.tgz --directory newer
  sed --in-place 's/"version": "2.0.0"/"version": "2.0.1"/' newer/package/package.json
  tar --create --gzip --file petstore-2.0.1.tgz --directory newer package
)
fail_at tar
expect 'the release without its files' "$(readlink /opt/petstore)" /opt/petstore-2.0.0
echo '--- an upgrade whose backup fails'
touch /var/lib/petstore-backups/before-2.0.1.db
(set +e; eval "${blocks[0]}")
expect 'the release' "$(readlink /opt/petstore)" /opt/petstore-2.0.0
expect 'the pets of the old release' "$(pets "$url")" "[$rex]"
rm -r /opt/petstore-2.0.1 /var/lib/petstore-backups/before-2.0.1.db
follow 'an upgrade'
expect 'the pets after the upgrade' "$(pets "$url")" "[$rex]"
journalctl --unit petstore --output cat | grep -q 'petstore 2.0.1 listens' || fail 'the new release does not run'
expect 'the pets to go back to' "$(runuser -u petstore -- petstore pets export --database sqlite:before-2.0.1.db)" "$rex"
[ "${#blocks[@]}" = 0 ] || fail 'the page has more blocks'
cd
read_blocks docs/troubleshooting.md
follow 'look here first' >~/look.log 2>&1
grep -q 'listens on' ~/look.log && grep -q '{"status":"ok"}' ~/look.log || fail "it does not show the service: $(cat ~/look.log)"
expect 'the keys' "$(follow 'a command as the user of the service' | awk 'NR > 2 { print $2 }')" shop
systemctl is-enabled petstore petstore-backup.timer
systemctl is-active petstore petstore-backup.timer nginx
! journalctl --unit petstore --unit petstore-backup --output cat | grep -E '"level":"(warn|error)"|Failed' || fail 'the log has errors'
STEPS

cat >"$root/etc/systemd/system/steps.service" <<'UNIT'
[Unit]
After=multi-user.target
SuccessAction=exit
FailureAction=exit
[Service]
Type=oneshot
WorkingDirectory=/root
Environment=HOME=/root DEBIAN_FRONTEND=noninteractive
ExecStart=/bin/bash steps.sh
StandardOutput=append:/root/steps.log
StandardError=inherit
UNIT
mkdir "$root/etc/systemd/system/default.target.wants"
ln --symbolic ../steps.service "$root/etc/systemd/system/default.target.wants/"

echo '--- the page'
status=0
systemd-nspawn --directory="$root" --boot --register=no --keep-unit --resolv-conf=copy-host --console=pipe \
  </dev/null >"$root/boot.log" 2>&1 || status=$?
cat "$work/steps.log" || cat "$root/boot.log"
[ "$status" = 0 ] || exit "$status"
echo 'The page is right.'
