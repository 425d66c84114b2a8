#!/usr/bin/env bash
# Checks deploy/kubernetes against the schemas of an older and a newer Kubernetes.
#
# Usage: scripts/check-kubernetes.sh        needs Python 3
set -euo pipefail
cd "$(dirname "$0")/.."

python=.cache/kubernetes-validate
[ -x "$python/bin/pip" ] || python3 -m venv "$python"
"$python/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: \
  --require-hashes --requirement scripts/kubernetes-requirements.txt

validate() {
  "$python/bin/kubernetes-validate" --strict --kubernetes-version 1.30 --kubernetes-version 1.37 "$@"
}

validate deploy/kubernetes/*.yaml

# A misspelt field, which Kubernetes itself would only warn of, must fail.
wrong=$(mktemp --suffix .yaml)
trap 'rm "$wrong"' EXIT
sed 's/readOnlyRootFilesystem/readOnlyRootFileSystem/' deploy/kubernetes/sqlite.yaml >"$wrong"
if said=$(validate "$wrong") || ! grep -q "'readOnlyRootFileSystem' was unexpected" <<<"$said"; then
  echo 'check-kubernetes: a misspelt field is not found' >&2
  exit 1
fi
echo 'The manifests are valid.'
