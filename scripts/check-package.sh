#!/usr/bin/env bash
# Installs the packed tarballs into empty folders, as an operator and an author of a client would, and uses
# them with the Node that is first on the path. It upgrades a store of 1.0.0 on both engines, by the Node of the
# checkout. What the service answers in full is tested in test/.
#
# Usage: scripts/check-package.sh TARBALL TARBALL_OF_THE_CLIENT
set -euo pipefail

tarball=$(realpath "$1")
client=$(realpath "$2")
checkout=$(realpath "$(dirname "$0")/..")
linters=$checkout/.ci/linters
folder=$(mktemp -d)
service=
cleanup() {
  if [ -n "$service" ]; then kill -KILL "$service" 2>/dev/null || true; fi
  rm -rf "$folder"
}
trap cleanup EXIT
cd "$folder"

fail() {
  printf 'check-package: %s\n' "$1" >&2
  exit 1
}

expect() {
  [ "$2" = "$3" ] || fail "$1 should be: $3, is: $2"
}

echo 'What is exported, and its types:'
(cd "$linters" && npm ci --ignore-scripts --no-audit --no-fund)
for each in "$tarball" "$client"; do
  "$linters/node_modules/.bin/publint" --strict "$each"
  "$linters/node_modules/.bin/attw" --profile esm-only "$each"
done

echo "The package on Node $(node --version):"
npm install --prefix . --ignore-scripts --no-audit --no-fund "$tarball"

package=node_modules/petstore
for file in README.md LICENSE CHANGELOG.md SECURITY.md openapi.json \
  docs/operations.md docs/postgresql.md deploy/petstore.service deploy/env.example; do
  [ -f "$package/$file" ] || fail "$file is not in the package"
done
expect 'the links in its documentation that lead nowhere' "$(cd "$package" && node --print '
  const files = fs.globSync(["*.md", "docs/**/*.md"]);
  const links = files.flatMap((file) =>
    [...fs.readFileSync(file, "utf8").matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, link]) => path.join(path.dirname(file), link)));
  links.length < 20 ? "too few links" : links.filter((link) => !fs.existsSync(link)).join()
')" ''
for stranger in src test runtime deploy/.env.old deploy/tls.key; do
  [ ! -e "$package/$stranger" ] || fail "$stranger is in the package"
done
installed=$(npm ls --all --parseable)
for stranger in '(node-bin|node)-(linux|darwin|win)' typescript biome fast-check playwright chromium; do
  if grep -E "/$stranger" <<<"$installed"; then fail "the package brings $stranger"; fi
done

mkdir exact
tar --extract --file "$tarball" --directory exact --strip-components 1
# The SBOM is made of the lock.
expect 'what the package brings' "$(node --print '
  const files = fs.globSync("exact/**/node_modules/{*,@*/*}/package.json");
  const packages = files.map((file) => JSON.parse(fs.readFileSync(file, "utf8")));
  [...new Set(packages.map(({ name, version }) => `${name}@${version}`))].sort().join()
')" "$(node --print '
  const { components } = require(process.argv[1]);
  components.map(({ name, version }) => `${name}@${version}`).sort().join()
' "${tarball%.tgz}.cdx.json")"
expect '--version of the unpacked package' "$(exact/dist/cli/bin.js --version)" \
  "$(node --print 'require("./exact/package.json").version')"

petstore=node_modules/.bin/petstore
expect '--version' "$(npx --no-install petstore --version)" \
  "$(node --print 'require("./node_modules/petstore/package.json").version')"
key=$("$petstore" keys create --name check 2>keys.err)
[[ $key =~ ^petstore_stag_[0-9A-Za-z]{36}$ ]] || fail 'keys create prints no key'

: >serve.out
"$petstore" serve --port 0 --log-level warn >serve.out 2>serve.err &
service=$!
for _ in {1..100}; do
  grep -q 'listens on' serve.out && break
  sleep 0.1
done
url=$(sed -nE 's/.*listens on (http:[^ ]+).*/\1/p' serve.out)
[ -n "$url" ] || fail "it does not start: $(cat serve.err)"

get() {
  curl --silent --show-error --fail --header "Authorization: Bearer $key" "$@"
}
pet='{"id":1,"name":"Rex","categoryId":9223372036854775807,"status":"sold"}'
expect 'POST /v1/pets' \
  "$(get --json '{"name":"Rex","categoryId":9223372036854775807,"status":"sold"}' "$url/v1/pets")" \
  "$pet"
expect 'GET /v1/pets/1' "$(get "$url/v1/pets/1")" "$pet"
expect 'GET /v1/pets' "$(get "$url/v1/pets?status=sold")" "[$pet]"
mkdir client
npm install --prefix client --ignore-scripts --no-audit --no-fund "$client"
expect 'what the client brings' "$(cd client && npm ls --all --parseable | wc -l) $(cd client/node_modules/petstore-client && echo *)" \
  '2 LICENSE README.md dist package.json'
for name in petstore/client petstore-client; do
  expect "$name" "$(cd "$([ "$name" = petstore/client ] && echo . || echo client)" && KEY=$key node --input-type=module --eval "
    import { PetstoreClient } from '$name';
    const client = new PetstoreClient({ baseUrl: process.argv[1], apiKey: process.env.KEY });
    for await (const { name, categoryId } of client.list()) console.log(name, categoryId);
  " "$url/v1")" 'Rex 9223372036854775807n'
done
"$petstore" openapi | cmp - "$package/openapi.json" || fail 'petstore openapi prints another document'
expect 'the paths of /openapi.json' \
  "$(curl --silent --fail "$url/openapi.json" | node --print 'Object.keys(JSON.parse(fs.readFileSync(0)).paths).join()')" \
  '/pets,/pets/{petId}'
curl --silent --fail "$url/docs/recipes/python.py" | cmp - "$package/docs/recipes/python.py" ||
  fail '/docs/recipes/python.py is no recipe'
grep -q '<script' <<<"$(curl --silent --fail "$url/docs/")" || fail '/docs/ is no page'
console=$(curl --silent --fail "$url/console/")
named=$(grep --only-matching --extended-regexp '[0-9a-f]{16}/[^"]+' <<<"$console")
expect 'the files of the console that are served' "$(while read -r file; do
  curl --silent --fail --output /dev/null "$url/console/$file" && echo "$file"
done <<<"$named")" "$named"
for kind in css js; do grep -q "\.$kind$" <<<"$named" || fail "/console/ names no .$kind"; done

kill -TERM "$service"
status=0
wait "$service" || status=$?
service=
expect 'the exit status after SIGTERM' "$status" 0
expect 'what serve wrote to standard error' "$(cat serve.err)" ''
! grep -i warning keys.err || fail 'keys create warns'

echo 'An upgrade from 1.0.0:'
TEST_PACKAGE=$folder/$package npm run --silent --prefix "$checkout" node -- "$checkout/test/main.ts" package
echo 'The package works.'
