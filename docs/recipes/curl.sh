#!/usr/bin/env bash
# A client of the petstore in curl, 7.71 or newer: KEY=… bash curl.sh http://127.0.0.1:8080/v1
#
# It prints bodies as they come, so every int64 is exact. Of what may read them: jq rounds beyond
# 2^53 before version 1.7.
set -euo pipefail

usage='usage: KEY=… bash curl.sh http://127.0.0.1:8080/v1'
: "${KEY:?$usage}"
base=${1:?$usage}
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

# Sends a request, up to 10 times. curl itself sends it again, when Retry-After says, after a lost
# connection and after 408, 429, 500, 502, 503 and 504. So a create needs its Idempotency-Key.
# Leaves the headers of every try in headers, and the last body in body.
send() {
  local status
  status=$(curl --silent --retry 9 --retry-all-errors --max-time 10 \
    --header "Authorization: Bearer $KEY" --dump-header "$folder/headers" --output "$folder/body" \
    --write-out '%{http_code}' "$@") || { echo "no answer from $base" >&2; return 1; }
  [ "$status" -lt 400 ] || { cat "$folder/body" >&2; return 1; }
}

# Adds a pet once, however often it is sent: create IDEMPOTENCY_KEY JSON.
create() {
  send --header 'Content-Type: application/json' --header "Idempotency-Key: $1" \
    --data-raw "$2" "$base/pets" || return
  cat "$folder/body"
  grep --quiet --ignore-case '^Idempotency-Replayed: true' "$folder/headers" && echo ' (replayed)' || echo
}

# Prints every page of a query: list limit=100. The address of the next one is relative to this one's; the
# key is sent to this service alone.
list() {
  local url="$base/pets?$1" origin next
  origin=$(sed -E 's|^(https?://[^/]*).*|\1|' <<<"$base")
  while [ -n "$url" ]; do
    send "$url" || return
    cat "$folder/body"
    echo
    next=$(sed -nE 's/^[Ll]ink: <([^>]*)>; rel="next".*/\1/p' "$folder/headers" | tail -n 1)
    case $next in
      '') url= ;;
      "$origin"/*) url=$next ;;
      /*) url=$origin$next ;;
      *) echo "the next page is at another origin: $next" >&2; return 1 ;;
    esac
  done
}

name_of_create=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
create "$name_of_create" '{"name":"Rex","categoryId":9223372036854775807}'
create "$name_of_create" '{"name":"Rex","categoryId":9223372036854775807}'
list limit=100
list limit=0 || echo 'the service refused it'
