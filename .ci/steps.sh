# What `.ci/run` and `.ci/full` share: Debian packages, and steps with their times. Both source this file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p .cache

# Without a PostgreSQL server the tests fail, instead of running on PGlite.
export TEST_POSTGRES_REQUIRED=1

times=()
report() {
  printf '%s\n' '' "${times[@]}" "$(printf '%5d s  in all' "$SECONDS")"
}
trap report EXIT

# Runs a command, and keeps a line with its time for the end.
step() {
  local start=$SECONDS status=0
  printf '\n=== %s\n' "$*"
  "$@" || status=$?
  times+=("$(printf '%5d s  %s' $((SECONDS - start)) "$*")$([ "$status" = 0 ] || echo '  FAILED')")
  return "$status"
}

# Runs tests, and fails also if one was skipped.
unskipped() {
  "$@" | tee .cache/test.log || return
  grep -qx 'ℹ skipped 0' .cache/test.log || { echo 'A test was skipped.' && return 1; }
}

# Installs those of these Debian packages that the machine lacks, and npm if no other is there.
install_packages() {
  local missing=() name
  command -v npm >/dev/null || missing+=(npm)
  for name in "$@"; do
    dpkg-query --show --showformat '${db:Status-Status}\n' "$name" 2>/dev/null |
      grep -qx installed || missing+=("$name")
  done
  [ "${#missing[@]}" -gt 0 ] || return 0
  apt-get update &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}
